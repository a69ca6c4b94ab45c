package examples

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Keep the error of a list and go on: print what was read, and then why it is not all.
func Example_gaps() {
	d, err := sosgo.Open("../../testdata/dumps/net10-crash-null-triage/net10-crash-null-triage.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	stacks, err := v.Stacks(context.Background(), sosgo.StackOptions{})
	if err != nil {
		log.Fatal(err)
	}
	frames := 0
	var missing []error
	for thread, err := range stacks.Threads {
		if err != nil {
			missing = append(missing, err)
			continue
		}
		for _, err := range thread.Frames {
			if err != nil {
				missing = append(missing, err)
				continue
			}
			frames++
		}
	}
	handles, err := v.Handles(context.Background())
	switch {
	case errors.Is(err, sosgo.ErrNotInDump):
		missing = append(missing, err) // the other answers are still worth having
	case err != nil:
		log.Fatal(err)
	default:
		for _, err := range handles.Handles {
			if err != nil {
				missing = append(missing, err)
			}
		}
	}
	fmt.Println("frames were read:", frames > 0)
	fmt.Println("something is not in the dump:", errors.Is(errors.Join(missing...), sosgo.ErrNotInDump))
	// Output:
	// frames were read: true
	// something is not in the dump: true
}
