package examples

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/objects"
)

// Read fields as Go values: a number, a string, an array, and fields of a struct in place.
func Example_fields() {
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
	o, err := r.Object(0x7efbcd805c98) // a Debuggee.Zoo.Primitives
	if err != nil {
		log.Fatal(err)
	}
	n, err := objects.As[int](o.Field("Int32"))
	fmt.Println(n, err)
	text, err := objects.As[string](o.Field("String"))
	fmt.Println(text, err)
	segment, err := objects.As[objects.Struct](o.Field("Struct"))
	if err != nil {
		log.Fatal(err)
	}
	from, err := segment.Field("From").Struct()
	if err != nil {
		log.Fatal(err)
	}
	y, err := objects.As[int](from.Field("Y"))
	fmt.Println(y, err)
	// Output:
	// -123456789 <nil>
	// hello, wörld 你好 <nil>
	// 2 <nil>
}
