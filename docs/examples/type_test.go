package examples

import (
	"fmt"
	"log"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
)

// Look at a type as the runtime does: its MethodTable, EEClass, FieldDescs and base classes.
func Example_runtimeType() {
	d, err := sosgo.Open("../../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	v, err := d.View("")
	if err != nil {
		log.Fatal(err)
	}
	rt, err := v.Runtime()
	if err != nil {
		log.Fatal(err)
	}
	mt, err := rt.MethodTable(0x7f07a5b48748) // of Debuggee.Zoo.Dog
	if err != nil {
		log.Fatal(err)
	}
	class, err := rt.EEClass(mt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("EEClass", class.Addr, "instance fields:", class.NumInstanceFields)
	fields, err := rt.Fields(mt)
	if err != nil {
		log.Fatal(err)
	}
	for i := range fields {
		name, err := rt.FieldName(&fields[i])
		fmt.Println(fields[i].Addr, fields[i].Offset, name, err)
	}
	for mt.Parent != 0 {
		mt, err = rt.MethodTable(mt.Parent)
		if err != nil {
			log.Fatal(err)
		}
		name, err := rt.TypeName(mt.Addr, dac.NameManaged)
		fmt.Println(mt.Addr, name, err)
	}
	// Output:
	// EEClass 00007f07a5b7a7c8 instance fields: 6
	// 00007f07a5b485d0 12 Debuggee.Zoo.Dog.name2 <nil>
	// 00007f07a5b485e0 16 Debuggee.Zoo.Dog.name <nil>
	// 00007f07a5b485f0 24 Debuggee.Zoo.Dog.Friend <nil>
	// 00007f07a5b48600 32 Debuggee.Zoo.Dog.Coat <nil>
	// 00007f07a5b48510 Debuggee.Zoo.Animal <nil>
	// 00007f07a4a547b0 System.Object <nil>
}
