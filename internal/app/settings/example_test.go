package settings_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/settings"
)

// List the properties that the host gave a web server's runtime.
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
	reader, err := settings.Of(view.Process)
	if err != nil {
		log.Fatal(err)
	}
	var gaps answer.Gaps
	list, err := reader.Properties(&gaps)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range list {
		if p.Name == "System.GC.Server" {
			fmt.Println(p.Name, p.Value)
		}
	}
	// Output: System.GC.Server true
}
