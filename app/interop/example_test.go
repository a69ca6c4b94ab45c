package interop_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
)

// List the objects that native code refers to.
func Example() {
	d, err := sosgo.Open("../../testdata/dumps/observed/net10-observed/net10-observed.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	reader, err := view.InteropReader()
	if err != nil {
		log.Fatal(err)
	}
	h, err := view.Heap()
	if err != nil {
		log.Fatal(err)
	}
	out, err := reader.Wrappers(context.Background(), h, heap.ScanOptions{})
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
