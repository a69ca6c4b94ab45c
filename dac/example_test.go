package dac_test

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dump"
)

// List the modules that the runtime has loaded, and name a type by its MethodTable.
func Example() {
	d, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rt, err := dac.Find(d, d, nil)[0].Open() // this process has one runtime
	if err != nil {
		log.Fatal(err)
	}
	modules, err := rt.Modules()
	if err != nil {
		log.Print(err) // modules contains those before the error
	}
	for _, m := range modules[:3] {
		path, err := m.Path()
		fmt.Println(m.Addr, path, err)
	}
	name, err := rt.TypeName(0x7f07a5b48748, dac.NameManaged)
	fmt.Println(name, err)
	// Output:
	// 00007f07a4a54000 /app/net10/System.Private.CoreLib.dll <nil>
	// 00007f07a5b41a30 /app/net10/Debuggee.dll <nil>
	// 00007f07a5b43b08 /app/net10/System.Runtime.dll <nil>
	// Debuggee.Zoo.Dog <nil>
}
