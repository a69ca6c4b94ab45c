package crash_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/crash"
)

// Say why a process died: the exception, and what it goes back to.
func ExampleDescribe() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-crash-nested/net10-crash-nested.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	c, err := crash.Describe(context.Background(), d.Default(), crash.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Reason)
	fmt.Println(c.ThreadName)
	for _, x := range c.Exceptions {
		fmt.Println(x.Type, "-", x.Message)
	}
	// Output:
	// the process aborted itself (SIGABRT)
	// crashing worker
	// Debuggee.Crash.OrderException - order 1042 failed
	// System.FormatException - The input string 'not a number 1042' was not in a correct format.
}
