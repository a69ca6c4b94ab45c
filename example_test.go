package sosgo_test

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackscan"
)

// zoo is a test dump of this project: a .NET 10 program for Linux that keeps one object of each kind.
const zoo = "testdata/dumps/net10-zoo/net10-zoo.dmp.zst"

func open(path string) *sosgo.Dump {
	d, err := sosgo.Open(path, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return d
}

// Open a dump and print the fields of one object.
func Example() {
	d := open(zoo)
	defer d.Close()
	reader, err := d.Objects()
	if err != nil {
		log.Fatal(err)
	}
	dog, err := reader.Object(0x7efbcd80b550)
	if err != nil {
		log.Fatal(err)
	}
	name, err := dog.Type.ManagedName()
	fmt.Println(name, err)
	for field, value := range dog.Fields() {
		fmt.Printf("%s = %s\n", field.Name, value.Plain(40))
	}
	// Output:
	// Debuggee.Zoo.Dog <nil>
	// name = "Rex"
	// Legs = 4
	// name2 = 7
	// name = "hidden"
	// Friend = 00007efbcd80b588
	// Coat = Blue
}

// List the large objects of the heap, and ask for an answer as a value. README.md
// shows this text.
func Example_library() {
	d, err := sosgo.Open(zoo, sosgo.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	heap, err := d.Heap()
	if err != nil {
		log.Fatal(err)
	}
	for obj, err := range heap.Objects() {
		if err != nil {
			log.Fatal(err) // a part of the heap can't be read; the walk could go on behind it
		}
		if obj.Size >= 85_000 {
			fmt.Println(obj.Addr, obj.Size, "bytes")
		}
	}

	where := heap.Where(0x7efbcd80b550) // the answer of gcwhere, an answer.Where
	if !where.Found {
		log.Fatal("not in the heap")
	}
	fmt.Println("generation", where.Generation, "of heap", where.Heap, "in", where.Segment)
	// Output:
	// 00007efbcdc00048 160024 bytes
	// generation 0 of heap 0 in 00007efbb3257410
}

// Count the objects of the heap by type, without an allocation an object.
func ExampleDump_Heap() {
	d := open(zoo)
	defer d.Close()
	heap, err := d.Heap()
	if err != nil {
		log.Fatal(err)
	}
	counts := map[*dac.MethodTable]int{}
	for o, err := range heap.Objects() {
		if err != nil {
			fmt.Println(err) // a corrupt place; the walk goes on behind it
			continue
		}
		counts[o.Type]++
	}
	most := slices.SortedFunc(maps.Keys(counts), func(a, b *dac.MethodTable) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.Addr, b.Addr))
	})
	for _, mt := range most[:3] {
		name, err := heap.Runtime().TypeName(mt.Addr, dac.NameManaged)
		fmt.Println(counts[mt], name, err)
	}
	// Output:
	// 1046 System.String <nil>
	// 181 System.RuntimeType <nil>
	// 142 System.RuntimeType+RuntimeTypeCache <nil>
}

// Scan the stack of one thread for the objects that it refers to.
func ExampleDump_Scanner() {
	d := open(zoo)
	defer d.Close()
	scanner, err := d.Scanner()
	if err != nil {
		log.Fatal(err)
	}
	rt, err := d.Runtime()
	if err != nil {
		log.Fatal(err)
	}
	threads, err := d.Threads()
	if err != nil {
		log.Fatal(err)
	}
	for i := range threads {
		t := &threads[i]
		if name, _ := t.Name(); name != "zoo worker" {
			continue
		}
		stack, err := t.Stack(d.Target())
		if err != nil {
			log.Fatal(err)
		}
		for slot, err := range scanner.Scan(context.Background(), stackscan.Options{Ranges: stack.Ranges}) {
			if err != nil {
				log.Fatal(err)
			}
			name, err := rt.TypeName(slot.Type.Addr, dac.NameManaged)
			fmt.Println(slot.Addr, slot.Object, name, err)
		}
	}
	// Output:
	// 00007efbae9fda98 00007efbcd80d060 System.Threading.ThreadStart <nil>
	// 00007efbae9fdaf8 00007efbcd80d0e8 System.Threading.Thread+StartHelper <nil>
	// 00007efbae9fdb08 00007efbcd80d060 System.Threading.ThreadStart <nil>
	// 00007efbae9fdb78 00007efbcd805be8 Debuggee.Zoo.Everything <nil>
	// 00007efbae9fdb88 00007efbcd80d0e8 System.Threading.Thread+StartHelper <nil>
	// 00007efbae9fdba8 00007efbcd80d060 System.Threading.ThreadStart <nil>
	// 00007efbae9fdbc0 00007efbcd80d060 System.Threading.ThreadStart <nil>
	// 00007efbae9fdbc8 00007efbcd805be8 Debuggee.Zoo.Everything <nil>
	// 00007efbae9fdbf0 00007efbcd80b508 System.Object <nil>
	// 00007efbae9fdc00 00007efbcd80b4d8 System.Object <nil>
	// 00007efbae9fdc08 00007efbcd805bd0 Debuggee.Zoo.Scenario+<>c__DisplayClass1_0 <nil>
	// 00007efbae9fdcf0 00007efbcd80d0a0 System.Threading.Thread <nil>
}

// Find the strings of the heap that contain a text.
func ExampleDump_Objects() {
	d := open(zoo)
	defer d.Close()
	heap, err := d.Heap()
	if err != nil {
		log.Fatal(err)
	}
	reader, err := d.Objects()
	if err != nil {
		log.Fatal(err)
	}
	str := heap.Runtime().WellKnown().String
	for o, err := range heap.Objects() {
		if err != nil || o.Type.Addr != str {
			continue
		}
		s, err := reader.Object(o.Addr)
		if err != nil {
			log.Fatal(err)
		}
		if text, err := s.Text(80); err == nil && strings.Contains(text, "zoo") {
			fmt.Println(o.Addr, text)
		}
	}
	// Output:
	// 00007efbcd805b80 zoo
	// 00007f079cc00720 zoo
	// 00007f079cc00998 zoo worker
}
