package ondumps_test

import (
	"strings"
	"testing"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestTypeParameters checks that the parameters of generic types have their names in metadata, on all runtimes
// and both systems. Each parameter is a structure of the runtime, so this tests its layout.
func TestTypeParameters(t *testing.T) {
	want := map[string]bool{"System.Collections.Generic.IEnumerable<T>": true, "System.IEquatable<T>": true, "System.Collections.Generic.ICollection<T>": true,
		"System.Collections.Generic.IDictionary<TKey, TValue>": true}
	check := func(t *testing.T, d *testdump.Dump) int {
		n := 0
		for _, found := range d.Runtimes() {
			rt, err := found.Open()
			if err != nil {
				continue // the dump's other process, or an unknown runtime
			}
			for mt, err := range rt.LoadedTypes() {
				if err != nil {
					continue
				}
				name, err := rt.TypeName(mt.Addr, dac.NameManaged)
				if err != nil {
					continue
				}
				if strings.Contains(name, "?") {
					t.Errorf("%v is named %s", mt.Addr, name)
				}
				if want[name] {
					n++
				}
			}
		}
		return n
	}
	testdump.Corpus(t, testcase.Named("*-zoo-withheap"), check)
}

// TestDynamicClass checks the name of a module's type for methods without a class.
func TestDynamicClass(t *testing.T) {
	rt, err := testdump.Open(t, "net10-stacks").Runtimes()[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	const class = 0x7f27f4fdacc8 // for the program's DynamicMethod
	for _, style := range []dac.NameStyle{dac.NameManaged, dac.NameNative} {
		if name, err := rt.TypeName(class, style); err != nil || name != "(dynamicClass)" {
			t.Errorf("style %v: %q (%v)", style, name, err)
		}
	}
}
