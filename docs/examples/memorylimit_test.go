package examples

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
)

// Limit the memory of large answers.
func Example_memoryLimit() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{MaxMemory: 1 << 10})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	_, err = v.Retained(ctx, graph.RetainedOptions{})
	if errors.Is(err, sosgo.ErrLimit) {
		fmt.Println("the graph needs more than 1 KB")
	} else if err != nil {
		log.Fatal(err)
	}
	// Output:
	// the graph needs more than 1 KB
}
