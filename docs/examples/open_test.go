package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Open a dump, and find which runtime the process ran.
func Example_open() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	version, err := v.EEVersion(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	if err := version.Heaps.Err(); err != nil {
		log.Fatal(err) // the heap is not in the dump
	}
	fmt.Println(version.Version, "heaps:", version.Heaps.Value)
	// Output:
	// 10.0.1426.52326 heaps: 1
}
