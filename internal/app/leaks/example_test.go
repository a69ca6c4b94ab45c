package leaks_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks"
)

// List the largest holders of the heap.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	holders, err := view.Holders(ctx, graph.Options{})
	if err != nil {
		log.Fatal(err)
	}
	objects, err := view.Objects()
	if err != nil {
		log.Fatal(err)
	}
	found, err := leaks.Find(ctx, holders, objects, leaks.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range found.Suspects {
		fmt.Println(s.Kind, s.Point.Type, s.Retained, "held by", s.Path.Root.Name)
	}
	fmt.Println("small:", found.Small)
	// Output:
	// object System.Double[] 160024 held by static Debuggee.Zoo.Scenario.Root
	// small: true
}
