package code_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac/code"
)

// Say which method an instruction pointer is in.
func ExampleReader_MethodAt() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := d.Runtime()
	if err != nil {
		log.Fatal(err)
	}
	r := code.Of(rt)
	info, err := r.MethodAt(0x7f07a5a9a5f0)
	if err != nil {
		log.Fatal(err)
	}
	name, err := r.MethodName(info.Method, code.MethodFull)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s+%#x, %s\n", name, info.Offset, info.Kind)
	// Output:
	// Debuggee.Program.Ready()+0x80, JIT
}
