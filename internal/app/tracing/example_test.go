package tracing_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/tracing"
)

// List the event sources of a process that have listeners.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/observed/net10-observed/net10-observed.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	out, err := tracing.EventSources(context.Background(), view.Process)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range out.Sources {
		if e.Enabled.Value {
			fmt.Println(e.Name, e.Level)
		}
	}
	// Output:
	// Microsoft-Windows-DotNETRuntime Verbose
	// Shop-Orders Informational
	// System.Runtime Verbose
}
