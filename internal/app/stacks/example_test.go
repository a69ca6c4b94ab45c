package stacks_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/stacks"
)

// List the threads of a process.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	out, err := stacks.OSThreads(context.Background(), d.Default())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(out.Threads) > 1)
	// Output: true
}
