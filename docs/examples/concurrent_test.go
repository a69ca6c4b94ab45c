package examples

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/sosgo/sosgo"
)

// Ask from several goroutines, and close the dump meanwhile: questions then fail with ErrClosed.
func Example_concurrent() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	var group sync.WaitGroup
	asked, ends := make(chan bool, 8), make(chan error, 8)
	for range 8 {
		group.Go(func() {
			for {
				if _, err := v.HeapStats(ctx, sosgo.HeapOptions{}); err != nil {
					ends <- err
					return
				}
				select {
				case asked <- true:
				default:
				}
			}
		})
	}
	select {
	case <-asked:
	case err := <-ends:
		log.Fatal(err)
	}
	d.Close() // stops running questions and waits for them
	group.Wait()
	close(ends)
	for err := range ends {
		if !errors.Is(err, sosgo.ErrClosed) {
			log.Fatal(err)
		}
	}
	fmt.Println("all goroutines saw that the dump is closed")
	// Output:
	// all goroutines saw that the dump is closed
}
