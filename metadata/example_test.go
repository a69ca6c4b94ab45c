package metadata_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/metadata"
)

// List the fields that a type declares. The metadata of an image in a dump works as well: [metadata.Sparse]
// describes the parts that are missing.
func Example() {
	im, err := image.OpenFile("../testdata/dumps/bare/modules/Debuggee.dll")
	if err != nil {
		log.Fatal(err)
	}
	defer im.Close()
	raw, err := im.Metadata()
	if err != nil {
		log.Fatal(err)
	}
	md, err := metadata.Parse(raw.Data)
	if err != nil {
		log.Fatal(err)
	}
	dog, ok := md.FindTypeDef("Debuggee.Zoo.Dog")
	if !ok {
		log.Fatal("there is no dog")
	}
	fields, err := md.Fields(dog.Row())
	if err != nil {
		log.Fatal(err)
	}
	for rid, err := range fields.All() {
		if err != nil {
			log.Fatal(err)
		}
		row, err := md.Field(rid)
		if err != nil {
			log.Fatal(err)
		}
		name, err := md.String(row.Name)
		fmt.Println(name, err)
	}
	// Output:
	// name2 <nil>
	// name <nil>
	// Friend <nil>
	// Coat <nil>
}
