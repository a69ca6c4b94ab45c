package stackwalk_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/stackwalk"
)

// List the threads that have run managed code, with their names.
func ExampleThreads() {
	d, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := dac.Find(d, d, nil)[0].Open() // the one runtime in this process
	if err != nil {
		log.Fatal(err)
	}
	list, err := stackwalk.Threads(d, rt)
	if err != nil {
		log.Fatal(err)
	}
	for i := range list {
		if t := &list[i]; t.Managed != nil {
			name, err := t.Name()
			fmt.Printf("%d %#x %q %v\n", t.Index, t.ID(), name, err)
		}
	}
	// Output:
	// 0 0x2cde "" <nil>
	// 5 0x2ce3 "" <nil>
	// 6 0x2ce4 "" <nil>
	// 7 0x2ce5 ".NET Timer" <nil>
	// 8 0x2ce6 "zoo worker" <nil>
}
