package examples

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sosgo/sosgo"
)

// Stop a question after a time.
func Example_cancel() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	for { // asks again, for this dump is small
		_, err := v.HeapStats(ctx, sosgo.HeapOptions{})
		if errors.Is(err, context.DeadlineExceeded) {
			fmt.Println("it took too long")
			return
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// it took too long
}
