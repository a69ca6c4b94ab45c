package threadpool_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/threadpool"
)

// Does the pool keep up?
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-stacks/net10-stacks.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	pool, err := threadpool.Of(view.Process)
	if err != nil {
		log.Fatal(err)
	}
	p, err := pool.Describe(context.Background(), threadpool.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d workers, %d busy\n", p.Total.Value, p.Running.Value)
	fmt.Println(p.Verdicts[0].Text)
	// Output:
	// 3 workers, 2 busy
	// no work waits for a worker
}
