package interop_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/interop"
)

// List the objects that native code refers to.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/observed/net10-observed/net10-observed.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	out, err := interop.ComWrappers(context.Background(), view.Process)
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range out.Managed {
		fmt.Println(w.Type, w.References.Value)
	}
	// Output:
	// Shop.Order 3
	// Shop.Sheet 1
}
