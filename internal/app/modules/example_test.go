package modules_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/app/modules"
)

// Say which runtime a process has.
func Example() {
	d, err := sosgo.Open("../../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	out, err := modules.EEVersion(context.Background(), d.Default())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Version)
	// Output: 10.0.1426.52326
}
