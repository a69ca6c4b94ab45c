package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
)

// What keeps an object alive?
func Example_gcroot() {
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
	paths, err := v.GCRoot(ctx, 0x7efbcd806bc0, graph.HoldOptions{Limit: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(paths.Verdict)
	for _, p := range paths.Paths {
		fmt.Println(p.Root.Name)
		for _, step := range p.Objects {
			fmt.Println(" ", step.Address, step.Type.S)
		}
	}
	// Output:
	// held
	// thread 2cde: Debuggee.Zoo.Scenario.Run() rbp-d8
	//   00007efbcd805be8 Debuggee.Zoo.Everything
	//   00007efbcd806a10 Debuggee.Zoo.Collections
	//   00007efbcd806bc0 System.Collections.Generic.Dictionary<System.String, System.Int32>
}
