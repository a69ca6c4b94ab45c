package memorymap_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/memorymap"
)

// Show what the memory of a process is for.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/native/net10-malloc/net10-malloc.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	m, err := memorymap.Memory(context.Background(), v.Process, memorymap.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range m.Kinds {
		if k.InUse != nil && k.Free != nil && k.Size > 1<<20 {
			fmt.Println(k.Kind, k.Size, *k.InUse, *k.Free)
		}
	}
	// Output:
	// gc large 9007104 1800480 6844896
	// malloc 4501504 2577360 1906096
}
