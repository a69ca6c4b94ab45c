package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/target"
)

// Scan any range of memory for words that refer to objects.
func Example_scan() {
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
	r, err := v.Objects()
	if err != nil {
		log.Fatal(err)
	}
	scanner, err := v.Scanner()
	if err != nil {
		log.Fatal(err)
	}
	o := stackscan.Options{Ranges: []target.Range{{Start: 0x7efbae9fdb00, End: 0x7efbae9fdc10}}}
	for slot, err := range scanner.Scan(ctx, o) {
		if err != nil {
			log.Fatal(err)
		}
		t, err := r.Type(slot.Type.Addr)
		if err != nil {
			log.Fatal(err)
		}
		name, err := t.Name()
		fmt.Println(slot.Addr, slot.Object, name, err)
	}
	// Output:
	// 00007efbae9fdb08 00007efbcd80d060 System.Threading.ThreadStart <nil>
	// 00007efbae9fdb78 00007efbcd805be8 Debuggee.Zoo.Everything <nil>
	// 00007efbae9fdb88 00007efbcd80d0e8 System.Threading.Thread+StartHelper <nil>
	// 00007efbae9fdba8 00007efbcd80d060 System.Threading.ThreadStart <nil>
	// 00007efbae9fdbc0 00007efbcd80d060 System.Threading.ThreadStart <nil>
	// 00007efbae9fdbc8 00007efbcd805be8 Debuggee.Zoo.Everything <nil>
	// 00007efbae9fdbf0 00007efbcd80b508 System.Object <nil>
	// 00007efbae9fdc00 00007efbcd80b4d8 System.Object <nil>
	// 00007efbae9fdc08 00007efbcd805bd0 Debuggee.Zoo.Scenario+<>c__DisplayClass1_0 <nil>
}
