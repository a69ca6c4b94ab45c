package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// Print an exception with its stack trace, and the exceptions that caused it.
func Example_exceptions() {
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
	for at := target.Addr(0x7f2fd9807ee8); at != 0; { // an exception of the heap; View.Exceptions lists them
		e, err := v.Exception(ctx, nil, sosgo.ExceptionOptions{Address: at})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Exception.Type, e.Exception.Message)
		for _, frame := range e.Exception.Frames {
			fmt.Println("  at", frame.Function)
		}
		at = e.Exception.Inner
	}
	// Output:
	// Debuggee.Crash.OrderException order 1042 failed
	//   at Debuggee.dll!Debuggee.Crash.Scenario.Submit(Int32)
	//   at Debuggee.dll!Debuggee.Crash.Scenario+<>c.<Run>b__0_0()
	//   at System.Private.CoreLib.dll!System.Threading.Thread.StartCallback()
	// System.FormatException The input string 'not a number 1042' was not in a correct format.
	//   at System.Private.CoreLib.dll!System.Number.ThrowFormatException[[System.Char, System.Private.CoreLib]](System.ReadOnlySpan`1<Char>)
	//   at System.Private.CoreLib.dll!System.Int32.Parse(System.String)
	//   at Debuggee.dll!Debuggee.Crash.Scenario.Validate(Int32)
	//   at Debuggee.dll!Debuggee.Crash.Scenario.Submit(Int32)
}
