package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Compute the signature of a crash, which is equal for the same crash in other dumps.
func Example_signature() {
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
	summary, err := v.Summary(ctx, sosgo.SummaryOptions{NoHeap: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(summary.Signature, summary.SignatureStrength)
	for _, part := range summary.SignatureParts {
		fmt.Println(part)
	}
	// Output:
	// 5cf85b3c0ff26e81 strong
	// Debuggee.Crash.OrderException
	// Debuggee.Crash.Scenario.Submit
	// Debuggee.Crash.Scenario.<Run>b
}
