package dac_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
)

// Print the method that contains an instruction pointer.
func ExampleCodeReader_MethodAt() {
	d, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := dac.Find(d, d, nil)[0].Open() // this process has one runtime
	if err != nil {
		log.Fatal(err)
	}
	r := dac.CodeOf(rt)
	info, err := r.MethodAt(0x7f07a5a9a5f0)
	if err != nil {
		log.Fatal(err)
	}
	name, err := r.MethodName(info.Method, dac.MethodFull)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s+%#x, %s\n", name, info.Offset, info.Kind)
	// Output:
	// Debuggee.Program.Ready()+0x80, JIT
}
