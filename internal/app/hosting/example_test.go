package hosting_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/hosting"
)

// List the content of a web server's memory cache.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/web/web-net10/web-net10.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	out, err := hosting.Caches(context.Background(), view.Process)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range out.Caches {
		for _, e := range c.Entries {
			fmt.Println(e.Key, e.Type)
		}
	}
	// Output:
	// "cached key" System.String
	// (System.Int32) 17 WebDebuggee.Customer
}
