package ondumps_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/locks"
)

// Why does the process hang?
func Example() {
	d, err := sosgo.Open("../../../../testdata/dumps/net10-stacks/net10-stacks.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	r, err := locks.Of(view.Process)
	if err != nil {
		log.Fatal(err)
	}
	waits, err := r.Waits(context.Background(), locks.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(waits.Verdicts[0].Strength, waits.Verdicts[0].Text)
	// Output:
	// proved deadlock: thread 33 "deadlock one" holds System.Object 00007f1c19805c88 (Debuggee.Stacks.Scenario.s_first) and waits for System.Object 00007f1c19805ca0 (Debuggee.Stacks.Scenario.s_second), thread 34 "deadlock two" holds System.Object 00007f1c19805ca0 (Debuggee.Stacks.Scenario.s_second) and waits for System.Object 00007f1c19805c88 (Debuggee.Stacks.Scenario.s_first)
}
