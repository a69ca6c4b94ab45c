package examples

import (
	"context"
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/objects"
)

// Print the static fields of a type.
func Example_statics() {
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
	fields, err := v.Statics(ctx, objects.StaticsOptions{Type: "Debuggee.Zoo.Statics"})
	if err != nil {
		log.Fatal(err)
	}
	for f, err := range fields {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(f.Name.S, f.Plain())
	}
	// Output:
	// Bool true
	// Int 1234567
	// Long 1234605616436508552
	// Double 2.5
	// String "static string"
	// Null null
	// Struct {X=11, Y=22}
	// StructWithReference {From={X=0, Y=0}, To={X=0, Y=0}, Label="static segment", Length=1.5}
	// When 2026-11-20T00:00:00Z
	// Array System.Int32[3]
	// FromData System.Byte[20]
	// PerThreadInt 1
	// PerThreadInt 2
	// PerThreadString "main thread"
	// PerThreadString "worker thread"
}
