package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/stackwalk"
)

// List the objects on the stack of a thread, as dso does.
func Example_stackObjects() {
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
	all, err := v.Threads()
	if err != nil {
		log.Fatal(err)
	}
	worker := stackwalk.ThreadByID(all, 0x2ce6)
	if worker == nil {
		log.Fatal("no such thread")
	}
	list, err := v.StackObjects(ctx, worker, sosgo.StackObjectOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for o, err := range list.Objects {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(o.Slot, o.Object, o.Type.S)
	}
	// Output:
	// 00007efbae9fda98 00007efbcd80d060 System.Threading.ThreadStart
	// 00007efbae9fdaf8 00007efbcd80d0e8 System.Threading.Thread+StartHelper
	// 00007efbae9fdb08 00007efbcd80d060 System.Threading.ThreadStart
	// 00007efbae9fdb78 00007efbcd805be8 Debuggee.Zoo.Everything
	// 00007efbae9fdb88 00007efbcd80d0e8 System.Threading.Thread+StartHelper
	// 00007efbae9fdba8 00007efbcd80d060 System.Threading.ThreadStart
	// 00007efbae9fdbc0 00007efbcd80d060 System.Threading.ThreadStart
	// 00007efbae9fdbc8 00007efbcd805be8 Debuggee.Zoo.Everything
	// 00007efbae9fdbf0 00007efbcd80b508 System.Object
	// 00007efbae9fdc00 00007efbcd80b4d8 System.Object
	// 00007efbae9fdc08 00007efbcd805bd0 Debuggee.Zoo.Scenario+<>c__DisplayClass1_0
	// 00007efbae9fdcf0 00007efbcd80d0a0 System.Threading.Thread
}
