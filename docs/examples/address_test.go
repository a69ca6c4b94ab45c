package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Describe an address of an object, code, a stack or a module.
func Example_address() {
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
	a := v.Resolve(ctx, 0x7efbcd80b550)
	fmt.Println(a.Kind, a.Name.S)
	// Output:
	// object Debuggee.Zoo.Dog
}
