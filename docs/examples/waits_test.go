package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// List the threads that wait for each other. The verdicts include deadlocks.
func Example_waits() {
	d, err := sosgo.Open("../../testdata/dumps/locks/net10-locks/net10-locks.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	waits, err := v.Waits(ctx, sosgo.WaitOptions{})
	if err != nil {
		log.Fatal(err)
	}
	worst := waits.Verdicts[0]
	fmt.Println(worst.Strength, worst.Text)
	// Output:
	// likely deadlock: thread 11 "only reader" holds System.Threading.ReaderWriterLockSlim 00007f1e63806b20 (Locks.rwOne) and waits for System.Object 00007f1e63807940 (Locks.joined), thread 12 "only writer" holds System.Object 00007f1e63807940 (Locks.joined) and waits for System.Threading.ReaderWriterLockSlim 00007f1e63806b20 (Locks.rwOne)
}
