package examples

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/export"
)

// Write the heap for PerfView.
func Example_export() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	written, err := export.GCDump(context.Background(), io.Discard, v.Process, export.GCDumpOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(written.Objects, "live objects")
	// Output:
	// 673 live objects
}
