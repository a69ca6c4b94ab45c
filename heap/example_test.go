package heap_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/heap"
)

// zoo is a dump of this project's tests: a program on .NET 10 for Linux that
// keeps one object of each kind.
const zoo = "../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"

// Follow the references from objects of a type to others of it.
func Example() {
	d, err := dump.Open(zoo, dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := dac.Find(d, d, nil)[0].Open() // the one runtime in this process
	if err != nil {
		log.Fatal(err)
	}
	h, err := heap.Open(rt, d)
	if err != nil {
		log.Fatal(err)
	}
	dogs := &heap.Filter{Type: func(mt *dac.MethodTable) bool {
		name, err := rt.TypeName(mt.Addr, dac.NameManaged)
		return err == nil && name == "Debuggee.Zoo.Dog"
	}}
	edges := h.Edges(heap.EdgeOptions{LoaderAllocators: true})
	for dog, err := range h.Walk(context.Background(), dogs) {
		if err != nil {
			log.Print(err) // a corrupt place; the walk continues after it
			continue
		}
		for ref, err := range edges.Of(&dog) {
			if err != nil {
				log.Print(err)
				continue
			}
			to, err := h.ObjectAt(ref.Target)
			if err != nil || to.Type != dog.Type {
				continue // a dog's name, or no object at all
			}
			holder, err := h.ObjectContaining(ref.Slot)
			fmt.Printf("%#x has the friend %#x %v\n", uint64(holder.Addr), uint64(to.Addr), err)
		}
	}
	// Output:
	// 0x7efbcd80b550 has the friend 0x7efbcd80b588 <nil>
	// 0x7efbcd80b588 has the friend 0x7efbcd80b550 <nil>
}
