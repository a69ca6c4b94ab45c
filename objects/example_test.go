package objects_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// zooDump is a dump of this project's tests: a program on .NET 10 for Linux
// that keeps one object of each kind.
const zooDump = "../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"

// Find a type by its name, its objects on the heap, a field of each, and a static field.
func Example() {
	d, err := sosgo.Open(zooDump, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	h, err := view.Heap()
	if err != nil {
		log.Fatal(err)
	}
	r, err := view.Objects()
	if err != nil {
		log.Fatal(err)
	}
	for t, err := range r.TypeByName("Debuggee.Zoo.Animal", "") {
		if err != nil {
			log.Print(err)
			continue
		}
		animals := &heap.Filter{Type: func(mt *dac.MethodTable) bool {
			have, err := r.Type(mt.Addr)
			if err != nil {
				return false
			}
			ok, err := have.IsAssignableTo(t)
			return ok && err == nil
		}}
		for ho, err := range h.Walk(context.Background(), animals) {
			if err != nil {
				log.Print(err)
				continue
			}
			o, err := r.Of(ho)
			if err != nil {
				log.Fatal(err)
			}
			name, err := o.Type.ManagedName()
			if o.Field("Friend").IsNull() {
				continue
			}
			fmt.Println(name, err, "has", o.Field("Legs").Plain(40), "legs and a friend")
		}
		statics, err := t.Statics()
		for _, f := range statics {
			v := f.StaticValue().Value
			fmt.Println(f.Name, v.Plain(40), errors.Is(v.Err(), objects.ErrNotInitialised), err)
		}
	}
	// Output:
	// Debuggee.Zoo.Dog <nil> has 4 legs and a friend
	// Debuggee.Zoo.Dog <nil> has 4 legs and a friend
	// s_created 13 false <nil>
	// LastName "local dog" false <nil>
}

// Read fields as Go values.
func ExampleAs() {
	d, err := sosgo.Open(zooDump, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	r, err := d.Objects()
	if err != nil {
		log.Fatal(err)
	}
	o, err := r.Object(0x7efbcd805c98)
	if err != nil {
		log.Fatal(err)
	}
	made, err := objects.As[time.Time](o.Field("DateTime"))
	fmt.Println(made, err)
	some, err := objects.As[int](o.Field("Some"))
	fmt.Println(some, err)
	none, err := objects.As[*int](o.Field("None")) // int? without a value
	fmt.Println(none, err)
	_, err = objects.As[int](o.Field("some"))
	fmt.Println(errors.Is(err, target.ErrNoSuch))
	// Output:
	// 2013-02-28 01:02:03 +0000 UTC <nil>
	// 17 <nil>
	// <nil> <nil>
	// true
}
