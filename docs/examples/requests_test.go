package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Which web requests was the process working on?
func Example_requests() {
	d, err := sosgo.Open("../../testdata/dumps/web/web-net10/web-net10.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	requests, err := v.Requests(ctx, sosgo.RequestOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range requests.Requests {
		fmt.Println(r.Method.S, r.Path.S, r.State)
	}
	// Output:
	// GET /orders/17 in the application
	// GET /stock/AB-12 in the application
	// GET /audit/login in the application
	// GET /reports/monthly in the application
	// GET /feed in the application, response headers are ready
	// POST /upload in the application
	// GET /chat in the application, response headers are ready
}
