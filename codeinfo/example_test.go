package codeinfo_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/target"
)

// List the places of a frame that hold references: those that the GC would
// look at.
func ExampleGCDecoder() {
	d, err := sosgo.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := d.Runtime()
	if err != nil {
		log.Fatal(err)
	}
	info, err := code.Of(rt).MethodAt(0x7f07a5a9a4e1) // in Scenario.Hold, behind a call
	if err != nil {
		log.Fatal(err)
	}
	var gc codeinfo.GCDecoder
	if err := code.Of(rt).DecodeGCInfo(&gc, info); err != nil {
		log.Fatal(err)
	}
	slots, err := gc.LiveSlots(nil, codeinfo.Query{Offset: info.Offset, ABI: target.SystemVAMD64})
	for _, s := range slots {
		fmt.Printf("%+v\n", s)
	}
	fmt.Println(err)
	// Output:
	// rbp-30
	// rbp-28
	// rbp-10
	// rbp-8
	// <nil>
}
