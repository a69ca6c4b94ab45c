package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Print the stacks of all managed threads.
func Example_stacks() {
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
	var o sosgo.StackOptions
	o.Source = true // source lines
	stacks, err := v.Stacks(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	for frame, err := range stacks.Frames {
		if err != nil {
			log.Fatal(err)
		}
		if frame.Kind == "managed" && frame.Module == "Debuggee.dll" {
			fmt.Printf("%x %s\n", frame.OSID, frame.Name())
		}
	}
	// Output:
	// 2cde Debuggee.Program.Ready()
	// 2cde Debuggee.Zoo.Scenario.Hold(Debuggee.Zoo.Segment[], System.String, Double, Debuggee.Zoo.Color)
	// 2cde Debuggee.Zoo.Scenario.Run()
	// 2cde Debuggee.Program.Main(System.String[])
	// 2ce6 Debuggee.Zoo.Scenario.Wait(Debuggee.Zoo.Everything)
	// 2ce6 Debuggee.Zoo.Scenario+<>c__DisplayClass1_0.<Run>b__1()
}
