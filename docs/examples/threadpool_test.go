package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Describe the thread pool: does it keep up?
func Example_threadPool() {
	d, err := sosgo.Open("../../testdata/dumps/net10-async/net10-async.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	pool, err := v.ThreadPool(ctx, sosgo.ThreadPoolOptions{Items: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pool.Running.Value, "of", pool.Max.Value, "workers run;", pool.Queued.Value, "items wait")
	for _, verdict := range pool.Verdicts {
		fmt.Println(verdict.Strength, verdict.Text)
	}
	// Output:
	// 2 of 2 workers run; 23 items wait
	// likely the pool is starved: 23 items wait for a worker, and all 2 workers wait for something themselves
}
