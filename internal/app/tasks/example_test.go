package tasks_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
)

// What do the async methods of a process wait for?
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-async/net10-async.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	h, err := v.Heap()
	if err != nil {
		log.Fatal(err)
	}
	r, err := tasks.Of(v.Process)
	if err != nil {
		log.Fatal(err)
	}
	set, err := r.Collect(context.Background(), h, heap.ScanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for stack, err := range set.Stacks(context.Background(), tasks.StackOptions{Type: "Loop"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("waits for", stack.Reason)
		for _, f := range stack.Frames {
			name := f.AsyncName.Name
			if !f.Method.IsZero() {
				name = f.Method
			}
			fmt.Println(strings.Repeat("  ", f.Depth), name)
		}
	}
	// Output:
	// waits for a Task.Delay of 16 min 40 s
	//  System.Threading.Tasks.Task+DelayPromise
	//    Debuggee.AsyncWork.Scenario.Loop
}

// Describe the flags of a task, which debuggers show in hexadecimal.
func ExampleFlags() {
	f := tasks.Flags(0x200400)
	fmt.Println(f.Status(), f.Completed(), f.Names())
	// Output:
	// Faulted true [PromiseTask Faulted]
}
