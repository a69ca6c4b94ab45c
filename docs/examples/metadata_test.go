package examples

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/metadata"
)

// List the methods of a type in an assembly's file. No dump is needed.
func Example_metadata() {
	im, err := image.OpenFile("../../testdata/dumps/bare/modules/Debuggee.dll")
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
		log.Fatal("no such type")
	}
	methods, err := md.Methods(dog.Row())
	if err != nil {
		log.Fatal(err)
	}
	for rid, err := range methods.All() {
		if err != nil {
			log.Fatal(err)
		}
		name, err := md.MethodDefName(rid)
		fmt.Println(name, err)
	}
	// Output:
	// Debuggee.Zoo.Dog..ctor(System.String) <nil>
	// Debuggee.Zoo.Dog.Area() <nil>
	// Debuggee.Zoo.Dog.Speak() <nil>
}
