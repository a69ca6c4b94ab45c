package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
)

// Which types hold the most memory?
func Example_retained() {
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
	retained, err := v.Retained(ctx, graph.RetainedOptions{Top: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range retained.Rows {
		fmt.Println(row.Name.S, row.Count, row.Retained)
	}
	// Output:
	// Debuggee.Zoo.Everything 1 172819
	// Debuggee.Zoo.Arrays 1 161125
	// System.Double[] 1 160024
}
