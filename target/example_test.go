package target_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/target"
)

// Read the memory of a process, and find the module at an address.
func Example() {
	f, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	mt, err := target.Pointer(f, 0x7efbcd80b550) // an object begins with its MethodTable
	fmt.Println(mt, err)
	_, err = target.Uint32(f, 0x55790a84e000) // a page of a file that the dump left out
	fmt.Println(err, errors.Is(err, target.ErrNotInDump))
	_, err = target.Uint32(f, 0x4141414141414140) // no process has memory there
	fmt.Println(err, errors.Is(err, target.ErrCorrupt))
	m := target.ModuleAt(f.Modules(), 0x7f079d000100)
	fmt.Println(m.Base, m.Path)
	// Output:
	// 00007f07a5b48748 <nil>
	// 4 bytes at 0x55790a84e000 are not in the dump true
	// read 4 bytes at 0x4141414141414140: no process has memory there true
	// 00007f079d000000 /app/net10/System.Private.CoreLib.dll
}
