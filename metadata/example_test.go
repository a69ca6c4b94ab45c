package metadata_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/metadata"
)

// zooDump is a dump of this project's tests: a program on .NET 10 for Linux
// that keeps one object of each kind.
const zooDump = "../testdata/dumps/net10-zoo/net10-zoo.dmp.zst"

// List the fields that a type declares, from the metadata of the module that a
// dump has.
func Example() {
	d, err := sosgo.Open(zooDump, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	view, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	md, err := metadataOf(view, "Debuggee")
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
	for rid := range fields.All() {
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

// metadataOf is the metadata of the module of an assembly.
func metadataOf(view *sosgo.View, assembly string) (*metadata.Metadata, error) {
	rt, err := view.Runtime()
	if err != nil {
		return nil, err
	}
	modules, err := rt.KnownModules()
	for _, m := range modules {
		if name, err := m.SimpleName(); err == nil && name == assembly {
			return m.Metadata()
		}
	}
	return nil, fmt.Errorf("no module of %s: %w", assembly, err)
}
