package examples

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Walk the heap, and name the type of each large object.
func Example_objects() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	h, err := v.Heap()
	if err != nil {
		log.Fatal(err)
	}
	for o, err := range h.Objects() {
		if err != nil {
			log.Fatal(err) // a part of the heap can't be read; the walk could go on behind it
		}
		if o.Size >= 85_000 {
			name, err := h.TypeName(o)
			fmt.Println(o.Addr, name, o.Size, err)
		}
	}
	// Output:
	// 00007efbcdc00048 System.Double[] 160024 <nil>
}
