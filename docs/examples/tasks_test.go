package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Count the tasks by state and method.
func Example_tasks() {
	d, err := sosgo.Open("../../testdata/dumps/net10-async/net10-async.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	tasks, err := v.Tasks(ctx, sosgo.TaskOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range tasks.Counts {
		if t.Count < 5 {
			break
		}
		fmt.Println(t.Status, t.Count, t.Name.S)
	}
	// Output:
	// WaitingForActivation 7 Debuggee.AsyncWork.Scenario.Inner
	// WaitingForActivation 7 Debuggee.AsyncWork.Scenario.Middle
	// WaitingForActivation 7 Debuggee.AsyncWork.Scenario.Outer
	// WaitingToRun 5 System.Threading.Tasks.Task {Debuggee.AsyncWork.Scenario+<>c__DisplayClass6_0.<Run>b__1}
}
