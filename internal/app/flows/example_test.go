package flows_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
)

// List what flows with the threads of a web server.
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
	binder, err := view.Shapes()
	if err != nil {
		log.Fatal(err)
	}
	items, err := view.Collections()
	if err != nil {
		log.Fatal(err)
	}
	list, err := view.Threads()
	if err != nil {
		log.Fatal(err)
	}
	var gaps answer.Gaps
	reader := flows.New(shapes.Reading{Gaps: &gaps, Binder: binder}, items)
	for i := range list {
		if list[i].Managed == nil {
			continue
		}
		for value := range reader.Values(reader.OfThread(&list[i])) {
			name, _ := binder.Definition(value.Type)
			fmt.Println(list[i].Managed.ManagedID, name)
		}
	}
	fmt.Println(len(gaps.Noted()), "could not be read")
	// Output:
	// 1 System.String
	// 12 Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope
	// 12 Microsoft.AspNetCore.Http.HttpContextAccessor+HttpContextHolder
	// 12 System.Diagnostics.Activity
	// 13 Microsoft.Extensions.Logging.LoggerFactoryScopeProvider+Scope
	// 13 Microsoft.AspNetCore.Http.HttpContextAccessor+HttpContextHolder
	// 13 System.Diagnostics.Activity
	// 25 System.String
	// 26 System.String
	// 0 could not be read
}
