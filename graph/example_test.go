package graph_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
)

// zoo is a dump of this project's tests: a program on .NET 10 for Linux that
// keeps one object of each kind.
const zoo = "../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"

// Show what keeps the object with the largest retained size alive.
func Example() {
	d, err := sosgo.Open(zoo, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	g, err := view.Graph(ctx, graph.Options{})
	if err != nil {
		log.Fatal(err)
	}
	dominators, err := g.Dominators(ctx)
	if err != nil {
		log.Fatal(err)
	}
	reach, err := g.Reach(ctx)
	if err != nil {
		log.Fatal(err)
	}
	objects, err := view.Objects()
	if err != nil {
		log.Fatal(err)
	}
	biggest := graph.Node(0)
	for n := range graph.Node(g.Objects()) {
		if reach.Live(n) && dominators.Retained(n) > dominators.Retained(biggest) {
			biggest = n
		}
	}
	names := g.Names(objects)
	path := reach.Path(biggest)
	for i, n := range path[1:] {
		if !g.IsObject(n) {
			name, err := names.Source(n)
			fmt.Println(name, err)
			continue
		}
		edge, err := names.Name(ctx, path[i], n)
		fmt.Printf("%s %#x retains %d bytes %v\n", edge, uint64(g.Address(n)), dominators.Retained(n), err)
	}
	// Output:
	// statics <nil>
	// Debuggee.Zoo.Scenario.Root <nil>
	//  0x7efbcd805be8 retains 172819 bytes <nil>
}
