package ondumps_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/metadata"
)

// TestNameWithoutArity renames a generic type to a name without arity, as closures of F# and obfuscated types
// have. The type arguments must stay.
func TestNameWithoutArity(t *testing.T) {
	clean := testdump.Open(t, "net10-zoo")
	file, err := clean.Raw()
	if err != nil {
		t.Fatal(err)
	}
	name, renamed := []byte("\x00Outer`1\x00"), []byte("\x00Outer@1\x00")
	if !bytes.Contains(file, name) {
		t.Fatal("the dump has no type Outer`1")
	}
	file = bytes.ReplaceAll(file, name, renamed)
	d, err := sosgo.OpenReaderAt(bytes.NewReader(file), int64(len(file)), clean.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before, err := clean.Runtimes()[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	rt, err := d.Runtimes()[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Debuggee.Zoo.Outer<System.String>":                     "Debuggee.Zoo.Outer@1<System.String>",
		"Debuggee.Zoo.Outer<System.String>+Inner<System.Int32>": "Debuggee.Zoo.Outer@1+Inner<System.String, System.Int32>",
	}
	found := 0
	for mt, err := range before.LoadedTypes() {
		if err != nil {
			continue
		}
		was, err := before.TypeName(mt.Addr, dac.NameManaged)
		if err != nil || want[was] == "" {
			continue
		}
		found++
		if is, err := rt.TypeName(mt.Addr, dac.NameManaged); err != nil || is != want[was] {
			t.Errorf("%s is named %q (%v), want %q", was, is, err, want[was])
		}
	}
	if found == 0 {
		t.Fatal("no instance of the type was found")
	}
}

// TestCorTypeNames checks SOS's names of the element types of signatures.
func TestCorTypeNames(t *testing.T) {
	for et, want := range map[metadata.ElementType][2]string{
		metadata.ElementI4:          {"System.Int32", "Int32"},
		metadata.ElementI:           {"System.IntPtr", "IntPtr"},
		metadata.ElementPtr:         {"", "PTR"},
		metadata.ElementSZArray:     {"", "SZARRAY"},
		metadata.ElementGenericInst: {}, // SOS has no word for it
	} {
		assert.Equal(t, want, [2]string{dac.CorTypeName(et), dac.CorTypeWord(et)}, et)
	}
}
