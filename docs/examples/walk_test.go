package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/stackwalk"
)

// Walk a stack frame by frame, with the registers of each frame.
func Example_walk() {
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
	threads, err := v.Threads()
	if err != nil {
		log.Fatal(err)
	}
	worker := stackwalk.ThreadByID(threads, 0x2ce6)
	if worker == nil {
		log.Fatal("no such thread")
	}
	for frame := range v.Walk(ctx, worker, stackwalk.WalkOptions{}) {
		if frame.Err != nil {
			log.Fatal(frame.Err) // the walk ended before the end of the stack
		}
		if frame.Kind != stackwalk.FrameManaged {
			continue
		}
		name, err := frame.Name()
		rbp, known := frame.Regs.FP()
		fmt.Println(frame.SP, rbp, known, name, err)
	}
	// Output:
	// 00007efbae9fdb20 00007efbae9fdbb0 true System.Threading.Thread.Sleep(Int32) <nil>
	// 00007efbae9fdbc0 00007efbae9fdbd0 true Debuggee.Zoo.Scenario.Wait(Debuggee.Zoo.Everything) <nil>
	// 00007efbae9fdbe0 00007efbae9fdc10 true Debuggee.Zoo.Scenario+<>c__DisplayClass1_0.<Run>b__1() <nil>
	// 00007efbae9fdc20 00007efbae9fdc30 true System.Threading.Thread.StartCallback() <nil>
}
