package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Describe one object with its fields.
func Example_describe() {
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
	dog, err := v.Describe(ctx, 0x7efbcd80b550, sosgo.DescribeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dog.Type.S, dog.Size.Value)
	for _, f := range dog.Fields {
		fmt.Println(f.Name.S, f.Plain())
	}
	// Output:
	// Debuggee.Zoo.Dog 56
	// name "Rex"
	// Legs 4
	// s_created 13
	// LastName "local dog"
	// name2 7
	// name "hidden"
	// Friend 00007efbcd80b588
	// Coat Blue
}
