package stackwalk_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
)

// List the frames of a thread with their arguments.
func ExampleWalker_Walk() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	walker, err := d.Walker()
	if err != nil {
		log.Fatal(err)
	}
	reader, err := d.Objects()
	if err != nil {
		log.Fatal(err)
	}
	threads, err := d.Threads()
	if err != nil {
		log.Fatal(err)
	}
	for i := range threads {
		t := &threads[i]
		if name, _ := t.Name(); name != "zoo worker" {
			continue
		}
		for f := range walker.Walk(context.Background(), t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
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
