package graph_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
)

// Count the roots of each kind, and name the roots that are arguments of a method.
func ExampleRootReader() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	reader, err := view.RootReader()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	count := map[graph.RootKind]int{}
	for root, err := range reader.All(ctx, graph.RootOptions{}) {
		if err != nil {
			log.Print(err) // an unreadable part; the iteration continues
			continue
		}
		count[root.Kind]++
		if what := reader.Describe(ctx, &root); what.Variable.S == "all" {
			fmt.Println(what.Name)
		}
	}
	fmt.Println(count)
	// Output:
	// thread 2ce6: Debuggee.Zoo.Scenario.Wait(Debuggee.Zoo.Everything) all
	// map[handle:14 stack:43 thread statics:3]
}
