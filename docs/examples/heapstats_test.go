package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Count the objects of the heap by type: what fills it?
func Example_heapStats() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	stats, err := v.HeapStats(ctx, sosgo.HeapOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range stats.Statistics.Types {
		if t.Size > 20_000 {
			fmt.Println(t.Type.S, t.Count, t.Size)
		}
	}
	// Output:
	// System.RuntimeType+RuntimeTypeCache 142 23856
	// System.String 1046 84760
	// System.Double[] 1 160024
}
