package stackwalk_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// List the frames of a thread with their arguments.
func ExampleWalker_Walk() {
	d, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := dac.Find(d, d, nil)[0].Open() // the one runtime in this process
	if err != nil {
		log.Fatal(err)
	}
	walker, reader := stackwalk.NewWalker(rt), objects.New(rt)
	threads, err := rt.Threads()
	if err != nil {
		log.Fatal(err)
	}
	worker := threads[slices.IndexFunc(threads, func(t dac.Thread) bool { return t.ManagedID == 5 })]
	native := d.Threads()
	registers := native[slices.IndexFunc(native, func(t target.Thread) bool { return t.ID == worker.OSID })].Registers
	for f := range walker.Walk(context.Background(), &worker, registers, stackwalk.WalkOptions{}) {
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		name, err := f.Name()
		fmt.Println(f.SP, name, err)
		args, _, err := stackwalk.Variables(&f, reader)
		if err != nil {
			log.Fatal(err)
		}
		for _, a := range args {
			text, err := a.TypeName(dac.NameManaged)
			fmt.Println("   ", a.Name, text, err)
		}
	}
	// Output:
	// 00007efbae9fdb20 System.Threading.Thread.Sleep(Int32) <nil>
	//     millisecondsTimeout System.Int32 <nil>
	// 00007efbae9fdbc0 Debuggee.Zoo.Scenario.Wait(Debuggee.Zoo.Everything) <nil>
	//     all Debuggee.Zoo.Everything <nil>
	// 00007efbae9fdbe0 Debuggee.Zoo.Scenario+<>c__DisplayClass1_0.<Run>b__1() <nil>
	//     this Debuggee.Zoo.Scenario+<>c__DisplayClass1_0 <nil>
	// 00007efbae9fdc20 System.Threading.Thread.StartCallback() <nil>
	//     this System.Threading.Thread <nil>
}
