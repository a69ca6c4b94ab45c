package objects_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/objects"
)

// List the elements of a dictionary.
func ExampleCollections() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
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
	object, err := binder.Objects().Object(0x7efbcd806bc0)
	if err != nil {
		log.Fatal(err)
	}
	c, err := objects.NewCollections(binder).Of(object)
	if err != nil {
		log.Fatal(err)
	}
	squares := map[string]int{}
	for k, v := range c.Pairs() {
		key, err := objects.As[string](k)
		if err != nil {
			log.Print(err) // the list continues
			continue
		}
		if squares[key], err = objects.As[int](v); err != nil {
			log.Print(err)
		}
	}
	fmt.Println(len(squares), squares["key2"], squares["key9"])
	// Output:
	// 9 4 81
}
