package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
)

// Read a field of all objects of a type.
func Example_ofType() {
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
	r, err := v.Objects()
	if err != nil {
		log.Fatal(err)
	}
	dog, err := r.Named("Debuggee.Zoo.Dog", "Debuggee")
	if err != nil {
		log.Fatal(err)
	}
	list, err := v.HeapObjects(ctx, sosgo.HeapOptions{Filter: &heap.Filter{Type: heap.TypeIs(dog.MT.Addr)}})
	if err != nil {
		log.Fatal(err)
	}
	for row, err := range list.Objects.All() {
		if err != nil {
			log.Fatal(err)
		}
		o, err := r.Object(row.Address)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Address, o.Field("Coat").Plain(40))
	}
	// Output:
	// 00007efbcd8086c8 Blue
	// 00007efbcd808d00 Blue
	// 00007efbcd808f00 Blue
	// 00007efbcd8092b0 Blue
	// 00007efbcd809748 Blue
	// 00007efbcd8099f0 Blue
	// 00007efbcd809da0 Blue
	// 00007efbcd80a1a8 Blue
	// 00007efbcd80a978 Blue
	// 00007efbcd80aca0 Blue
	// 00007efbcd80b550 Blue
	// 00007efbcd80b588 Blue
	// 00007efbcd82b448 Blue
}
