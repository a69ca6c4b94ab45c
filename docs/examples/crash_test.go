package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Explain why a process died.
func Example_crash() {
	d, err := sosgo.Open("../../testdata/dumps/net10-crash-nested/net10-crash-nested.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	crash, err := v.Crash(ctx, sosgo.CrashOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(crash.Reason)
	for _, verdict := range crash.Verdicts {
		fmt.Println(verdict.Strength, verdict.Text)
	}
	// Output:
	// the process aborted itself (SIGABRT)
	// recorded the process aborted itself (SIGABRT)
	// proved Debuggee.Crash.OrderException was not caught: order 1042 failed; caused by System.FormatException: The input string 'not a number 1042' was not in a correct format, in Debuggee.dll!Debuggee.Crash.Scenario.Validate(Int32)
}
