package methods_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/methods"
)

// Find a method by its name.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	out, err := methods.FindName(context.Background(), d.Default(), "Debuggee.dll", "Debuggee.Zoo.Scenario")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(out.Modules))
	// Output: 1
}
