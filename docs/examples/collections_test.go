package examples

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/objects"
)

// Read an array and a list as values.
func Example_collections() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	r, err := v.Objects()
	if err != nil {
		log.Fatal(err)
	}
	arrays, err := r.Object(0x7efbcd805e70) // a Debuggee.Zoo.Arrays
	if err != nil {
		log.Fatal(err)
	}
	ints, err := objects.As[[]int](arrays.Field("Ints"))
	fmt.Println(ints, err)
	all, err := r.Object(0x7efbcd806a10) // a Debuggee.Zoo.Collections
	if err != nil {
		log.Fatal(err)
	}
	list, err := all.Field("List").Object()
	if err != nil {
		log.Fatal(err)
	}
	c, err := v.Collections()
	if err != nil {
		log.Fatal(err)
	}
	content, err := c.Of(list)
	if err != nil {
		log.Fatal(err)
	}
	for i, value := range content.Values() {
		n, err := value.Int()
		fmt.Println(i, n, err)
	}
	// Output:
	// [10 20 30 40] <nil>
	// 0 1 <nil>
	// 1 2 <nil>
	// 2 3 <nil>
}
