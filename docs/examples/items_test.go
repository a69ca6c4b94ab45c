package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/objects"
)

// List the elements of a dictionary.
func Example_items() {
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
	list, err := v.Items(ctx, 0x7efbcd806bc0, objects.CollectionOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for item, err := range list.Items.All() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Key.Plain(), item.Item.Plain())
	}
	// Output:
	// "key0" 0
	// "key1" 1
	// "key2" 4
	// "key4" 16
	// "key5" 25
	// "key6" 36
	// "key7" 49
	// "key8" 64
	// "key9" 81
}
