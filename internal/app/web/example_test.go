package web_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/web"
)

// List the web requests of a process. This one has no server.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	out, err := web.Requests(context.Background(), v.Process, web.RequestOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, request := range out.Requests {
		fmt.Println(request.Method, request.Path, request.State)
	}
	fmt.Println(len(out.Requests), "requests")
	// Output:
	// 0 requests
}
