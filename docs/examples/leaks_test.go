package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
)

// Look for leaks.
func Example_leaks() {
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
	leaks, err := v.Leaks(ctx, sosgo.LeakOptions{Share: 1, Least: 1, Bytes: 1, Top: 3})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range leaks.Suspects {
		fmt.Println(s.Kind, s.Verdict, s.Retained, s.Point.Type.S)
	}
	// Output:
	// object notable 160024 System.Double[]
	// object notable 14128 System.String
	// object notable 8584 System.Object[]
}
