package memory_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/memory"
)

// Count the objects of the heap by type.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	out, err := memory.HeapStats(context.Background(), d.Default(), memory.HeapOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Statistics.Count > 0)
	// Output: true
}
