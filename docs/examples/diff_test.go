package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Compare two dumps: what grew?
func Example_diff() {
	var list []*sosgo.HeapSummary
	for _, name := range []string{"net8-zoo", "net10-zoo"} {
		d, err := sosgo.Open("../../testdata/dumps/"+name+"/"+name+".dmp.zst", sosgo.Options{})
		if err != nil {
			log.Fatal(err)
		}
		v, err := d.View("")
		if err != nil {
			log.Fatal(err)
		}
		s, err := v.SummarizeHeap(context.Background(), name)
		if err != nil {
			log.Fatal(err)
		}
		list = append(list, s)
		d.Close() // the summary needs it no longer
	}
	diff := sosgo.CompareHeaps(list, sosgo.CompareOptions{Top: 2})
	for _, t := range diff.Types {
		fmt.Println(t.Name, t.Counts, t.SizeChange)
	}
	// Output:
	// System.Reflection.FieldAccessor [0 71] 3408
	// System.String [1028 1046] 1828
}
