package scrub_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/export/scrub"
	"github.com/sosgo/sosgo/internal/base/absent"
)

// A file without memory of a process can't be scrubbed.
func ExampleWrite() {
	d, err := sosgo.OpenTarget(absent.Process(nil), sosgo.Options{Offline: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	_, err = scrub.Write(context.Background(), d.Dump, io.Discard, scrub.Options{})
	fmt.Println(errors.Is(err, sosgo.ErrUnsupported), err)
	// Output: true scrub: a target that is no dump's
}
