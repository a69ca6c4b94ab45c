package codeinfo_test

import (
	"encoding/hex"
	"fmt"
	"log"

	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/target"
)

// List the places of a frame that hold references for the GC. In a dump, dac/code finds the GC info
// of a method.
func ExampleGCDecoder() {
	recorded, err := hex.DecodeString("22db8c5fea8406a8c3e0303800000000004a2c29550281e4c0d9604828188aa732baba9eb9000009c044704cba45531a")
	if err != nil {
		log.Fatal(err)
	}
	var gc codeinfo.GCDecoder
	if err := gc.Reset(recorded, 4); err != nil { // the version of .NET 10
		log.Fatal(err)
	}
	slots, err := gc.LiveSlots(nil, codeinfo.Query{Offset: 0x51, ABI: target.SystemVAMD64()}) // after a call
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
