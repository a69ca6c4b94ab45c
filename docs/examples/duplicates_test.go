package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Which strings are there several times?
func Example_duplicates() {
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
	list, err := v.Duplicates(ctx, sosgo.HeapOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for s, err := range list.Strings.All() {
		if err != nil {
			log.Fatal(err)
		}
		if s.Count > 3 {
			fmt.Println(s.Count, s.Size, s.Text.S)
		}
	}
	// Output:
	// 4 216 libSystem.Native
	// 9 432 Debuggee.Heap
	// 10 520 Debuggee.Stacks
	// 18 1044 Debuggee.AsyncWork
	// 35 1610 Debuggee.Zoo
}
