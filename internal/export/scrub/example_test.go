package scrub_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sosgo/sosgo/internal/export/scrub"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A process that is not read from a file can't be scrubbed.
func ExampleWrite() {
	d, err := process.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", process.Options{Offline: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	over, err := d.Over(struct{ target.Target }{d.Target()})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer over.Close()
	_, err = scrub.Write(context.Background(), over, io.Discard, scrub.Options{})
	fmt.Println(errors.Is(err, target.ErrUnsupported), err)
	// Output: true scrub: a target that is no dump's
}
