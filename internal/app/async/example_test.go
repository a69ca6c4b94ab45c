package async_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/async"
)

// List the stacks of suspended async methods.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-async/net10-async.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	out, err := async.Stacks(context.Background(), d.Default(), async.StackOptions{})
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	for _, err := range out.Stacks {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n > 0)
	// Output: true
}
