package heapdiff_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/heapdiff"
)

// List the types that one dump has more objects of than another.
func Example() {
	var list []*heapdiff.Summary
	for _, name := range []string{"net8-zoo", "net10-zoo"} {
		d, err := sosgo.Open("../../testdata/dumps/"+name+"/"+name+".dmp.zst", sosgo.Options{})
		if err != nil {
			log.Fatal(err)
		}
		h, err := d.Heap()
		if err != nil {
			log.Fatal(err)
		}
		s, err := heapdiff.Summarize(context.Background(), name, h, heap.ScanOptions{})
		if err != nil {
			log.Fatal(err)
		}
		list = append(list, s)
		d.Close() // the summary does not need it
	}
	diff := heapdiff.Compare(list, heapdiff.Options{Top: 2})
	for _, t := range diff.Types {
		fmt.Println(t.Name, t.Counts, t.SizeChange)
	}
	// Output:
	// System.Reflection.FieldAccessor [0 71] 3408
	// System.String [1028 1046] 1828
}
