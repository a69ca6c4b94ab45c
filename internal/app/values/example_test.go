package values_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/objects"
)

// List the static fields of a type.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	fields, err := values.Statics(context.Background(), d.Default(), objects.StaticsOptions{Type: "Debuggee.Zoo.Statics"})
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	for _, err := range fields {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n > 10)
	// Output: true
}
