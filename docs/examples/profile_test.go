package examples

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/export"
)

// Write the stacks of all threads for pprof.
func Example_profile() {
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
	profile, err := v.Profile(ctx, sosgo.ProfileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := export.StackProfile(&file, profile, export.StackProfileOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(profile.Threads), "stacks", file.Len() > 0)
	// Output:
	// 5 stacks true
}
