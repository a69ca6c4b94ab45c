package layout

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

const sample = `{"version":0,"baseline":"empty",
 "types":{"Thread":{"!":16,"Id":4,"Link":[8,"pointer"]}},
 "globals":{"Direct":["0x10","uint32"],"Name":["x64","string"],"Number":7,"One":[1],"Two":[[2],"pointer"]},
 "contracts":{"Thread":1}}`

func addresses(list ...target.Addr) func(int) (target.Addr, bool) {
	return func(i int) (target.Addr, bool) {
		if i >= len(list) {
			return 0, false
		}
		return list[i], true
	}
}

func slots(list ...target.Addr) func(int) (target.Addr, error) {
	return func(i int) (target.Addr, error) {
		if i >= len(list) || list[i] == 0 {
			return 0, target.Unsupportedf("no entry %d", i)
		}
		return list[i], nil
	}
}

func TestDescriptor(t *testing.T) {
	p, err := ParseDescriptor([]byte(sample), "sample")
	require.NoError(t, err)
	b := NewBuilder()
	b.Add(p, Addresses{Pointer: addresses(0, 0x1000, 0x2000)})
	l := b.Layout()

	off, err := l.Offset("Thread", "Link")
	require.NoError(t, err)
	require.Equal(t, 8, off)
	size, err := l.Size("Thread")
	require.NoError(t, err)
	require.Equal(t, 16, size)
	v, err := l.Uint("Direct")
	require.NoError(t, err)
	require.EqualValues(t, 0x10, v)
	v, err = l.Uint("Number")
	require.NoError(t, err)
	require.EqualValues(t, 7, v)
	g, err := l.Global("Name")
	require.NoError(t, err)
	require.Equal(t, "x64", g.Text)
	one, err := l.Variable("One")
	require.NoError(t, err)
	require.EqualValues(t, 0x1000, one)
	two, err := l.Variable("Two")
	require.NoError(t, err)
	require.EqualValues(t, 0x2000, two)
	require.Equal(t, "1", l.contracts["Thread"])
}

func TestMissingMembersAreUnsupported(t *testing.T) {
	p, err := ParseDescriptor([]byte(sample), "sample")
	require.NoError(t, err)
	b := NewBuilder()
	b.Add(p, Addresses{}) // without pointer data, indirect globals stay unresolved
	l := b.Layout()
	for name, err := range map[string]error{
		"field":    second(l.Offset("Thread", "Nope")),
		"type":     second(l.Offset("Nope", "Id")),
		"global":   second(l.Variable("One")),
		"direct":   second(l.Variable("Direct")),
		"constant": second(l.Uint("Nope")),
	} {
		require.ErrorIs(t, err, target.ErrUnsupported, name)
	}
}

func second[T any](_ T, err error) error { return err }

// TestFirstPartWins checks that a later part only adds what is missing, member by member.
func TestFirstPartWins(t *testing.T) {
	first, err := ParseDescriptor([]byte(`{"types":{"A":{"x":1}},"globals":{"G":[[0],"pointer"]}}`), "first")
	require.NoError(t, err)
	second, err := parseTable([]byte(`{"types":{"A":{"!":64,"x":2,"y":3}},"globals":{"G":{"dacSlot":5},"H":{"dacSlot":1}},"constants":{"C":[1,2]}}`), "second", nil)
	require.NoError(t, err)
	b := NewBuilder()
	b.Add(first, Addresses{Pointer: addresses(0x10)})
	b.Add(second, Addresses{Slot: slots(0xa, 0xb, 0xc, 0xd, 0xe, 0xf)})
	l := b.Layout()

	var o struct {
		X    int `layout:"x"`
		Y    int `layout:"nope|y"`
		Z    int `layout:"z,optional"`
		Size int `layout:"size"`
	}
	require.NoError(t, l.Bind("A", &o))
	require.Equal(t, []int{1, 3, Absent, 64}, []int{o.X, o.Y, o.Z, o.Size})
	g, err := l.Variable("G")
	require.NoError(t, err)
	require.EqualValues(t, 0x10, g)
	h, err := l.Variable("H")
	require.NoError(t, err)
	require.EqualValues(t, 0xb, h)
	var c []int
	require.NoError(t, l.Constant("C", &c))
	require.Equal(t, []int{1, 2}, c)

	from := map[string]string{}
	for _, m := range l.Members() {
		from[m.Name] = m.Source
	}
	require.Equal(t, "first", from["A.x"])
	require.Equal(t, "second", from["A.y"])
	require.Equal(t, "second", from["A.size"])
}

func TestBadDescriptors(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"not JSON":         {`{`, target.ErrCorrupt},
		"another version":  {`{"version":3}`, target.ErrUnsupported},
		"with a baseline":  {`{"version":0,"baseline":"net10"}`, target.ErrUnsupported},
		"negative offset":  {`{"types":{"A":{"x":-1}}}`, target.ErrCorrupt},
		"huge offset":      {`{"types":{"A":{"x":1099511627776}}}`, target.ErrCorrupt},
		"text offset":      {`{"types":{"A":{"x":"one"}}}`, target.ErrCorrupt},
		"negative index":   {`{"globals":{"G":[[-1],"pointer"]}}`, target.ErrCorrupt},
		"two indexes":      {`{"globals":{"G":[[1,2],"pointer"]}}`, target.ErrCorrupt},
		"empty list":       {`{"globals":{"G":[]}}`, target.ErrCorrupt},
		"slot without one": {`{"globals":{"G":{}}}`, target.ErrCorrupt},
	} {
		_, err := ParseDescriptor([]byte(c.text), name)
		require.ErrorIs(t, err, c.want, name)
	}
}

// TestTables checks that each embedded table has what package dac needs.
func TestTables(t *testing.T) {
	for _, name := range tableNames("") {
		raw, err := tableText(name)
		require.NoError(t, err)
		if strings.HasPrefix(path.Base(name), "descriptor-") {
			var f descriptorFile
			require.NoError(t, json.Unmarshal(raw, &f), name)
			p, err := ParseDescriptor(f.Descriptor, name)
			require.NoError(t, err, name)
			for _, g := range p.globals {
				require.Less(t, g.index, len(f.PointerDataRVAs), name)
			}
			for _, index := range p.subs {
				require.Less(t, index, len(f.PointerDataRVAs), name)
			}
			continue
		}
		p, err := parseTable(raw, name, tableNamed)
		require.NoError(t, err, name)
		require.NotEmpty(t, p.Major, name)
		if strings.HasPrefix(path.Base(name), "nativeaot") {
			for _, c := range []string{"EETypeKindMask", "EETypeElementTypeShift", "GenerationFieldOffsets"} {
				require.Contains(t, p.constants, c, name)
			}
			continue
		}
		if p.Like != "" { // the descriptor has the others
			for _, c := range []string{"CanonMTTagMask", "MTFlagCollectible", "ThinLockThreadIdBits", "TypeTokenInFlags2", "NibbleMap"} {
				require.Contains(t, p.constants, c, name)
			}
			continue
		}
		require.NotNil(t, p.DacTable(), name)
		for _, c := range []string{"CanonMTTagMask", "MTFlagCollectible", "ThinLockThreadIdBits", "TypeTokenInFlags2", "GenerationFieldOffsets", "NibbleMap"} {
			require.Contains(t, p.constants, c, name)
		}
		for _, g := range []string{"ObjectMethodTable", "FreeObjectMethodTable", "ThreadStore", "GcDacVars", "AppDomain"} {
			require.Contains(t, p.globals, g, name)
		}
	}
}

// TestDebugHeaderPart converts the names of a debug header to the tables' names.
func TestDebugHeaderPart(t *testing.T) {
	p, err := DebugHeaderPart([]DebugEntry{{"dac_heap_segment", "SIZEOF", 72}, {"dac_heap_segment", "background_allocated", 56},
		{"gc_alloc_context", "alloc_ptr", 8}, {"ThreadStore", "m_ThreadList", 16}, {"Globals", "MinObjectSize", 24}},
		[]string{"g_other", "g_gcDacGlobals"}, "test")
	require.NoError(t, err)
	b := NewBuilder()
	b.Add(p, Addresses{Pointer: func(n int) (target.Addr, bool) { return target.Addr(0x100 * (n + 1)), true }})
	l := b.Layout()
	for _, c := range []struct {
		typ, field string
		want       int
	}{{"HeapSegment", "BackgroundAllocated", 56}, {"GCAllocContext", "Pointer", 8}, {"ThreadStore", "m_ThreadList", 16}} {
		got, err := l.Offset(c.typ, c.field)
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	size, err := l.Size("HeapSegment")
	require.NoError(t, err)
	require.Equal(t, 72, size)
	at, err := l.Variable("GcDacVars")
	require.NoError(t, err)
	require.Equal(t, target.Addr(0x200), at)
	least, err := l.Uint("MinObjectSize")
	require.NoError(t, err)
	require.EqualValues(t, 24, least)

	_, err = DebugHeaderPart([]DebugEntry{{"MethodTable", "m_uFlags", 1 << 31}}, nil, "test")
	require.ErrorIs(t, err, target.ErrCorrupt)
	_, err = DebugHeaderTable(99)
	require.ErrorIs(t, err, target.ErrUnsupported)
}

func TestCandidates(t *testing.T) {
	c := Candidates(target.OSLinux, target.ArchAMD64, "8.0.5")
	var majors []string
	for _, x := range c {
		majors = append(majors, x.Major)
		require.Empty(t, x.Parts)
		require.NoError(t, x.Load(false))
		require.Len(t, x.Parts, 1)
		require.Equal(t, x.Major, x.Parts[0].Major, "the table is named after its major")
		table := x.Parts[0].Source
		require.NoError(t, x.Load(true))
		require.Equal(t, table, x.Parts[len(x.Parts)-1].Source)
		complete := strings.HasPrefix(table, "table supplement") && x.Parts[len(x.Parts)-1].Like == ""
		require.Equal(t, complete, len(x.Parts) == 2, "a supplement has a descriptor to complete")
	}
	require.Equal(t, []string{"8.0", "11.0", "10.0", "9.0", "6.0", "3.1"}, majors)
	require.Empty(t, Candidates(target.OSWindows, target.ArchARM, ""))
}

func TestKnownBuild(t *testing.T) {
	b, err := KnownBuild(image.Identity{TimeDateStamp: 0x6adaee43, SizeOfImage: 0x47a000})
	require.NoError(t, err)
	require.NotNil(t, b)
	require.Equal(t, "10.0.14", b.Version)
	b, err = KnownBuild(image.Identity{TimeDateStamp: 0x6adaee43, SizeOfImage: 0x47b000})
	require.NoError(t, err)
	require.Nil(t, b)
	b, err = KnownBuild(image.Identity{})
	require.NoError(t, err)
	require.Nil(t, b)
}

func TestCompareVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"8.0.33", "10.0.1", -1}, {"10.0", "9.0", 1}, {"8.0", "8.0.0", 0}, {"", "3.1", -1}, {"10.0.1426.52326", "10.0.14", 1}} {
		got := CompareVersions(c.a, c.b)
		require.Equal(t, c.want, max(-1, min(1, got)), "%s %s", c.a, c.b)
	}
}

func FuzzDescriptor(f *testing.F) {
	f.Add([]byte(sample))
	for _, name := range tableNames("descriptor-10") {
		raw, _ := tableText(name)
		var d descriptorFile
		if json.Unmarshal(raw, &d) == nil {
			f.Add([]byte(d.Descriptor))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := ParseDescriptor(raw, "fuzz")
		if err != nil {
			return
		}
		b := NewBuilder()
		b.Add(p, Addresses{Pointer: addresses(1, 2, 3), Slot: slots(1, 2, 3)})
		for _, m := range b.Layout().Members() {
			if m.Source != "fuzz" {
				t.Fatalf("%s from %q", m.Name, m.Source)
			}
		}
	})
}

func FuzzTable(f *testing.F) {
	for _, name := range tableNames("clr8") {
		raw, _ := tableText(name)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := parseTable(raw, "fuzz", tableNamed)
		if err != nil {
			return
		}
		b := NewBuilder()
		b.Add(p, Addresses{Slot: slots(1, 2, 3)})
		b.Layout().Members()
	})
}

// TestDerivedTable checks that a table with a base has the base's members, except those that it sets or
// removes.
func TestDerivedTable(t *testing.T) {
	base := map[string]string{
		"old": `{"runtime":"8.0","types":{"A":{"!":64,"x":1,"y":2},"B":{"z":3}},"vtables":{"V":{"dacSlot":9}},"constants":{"C":1,"D":2},
			"globals":{"G":{"dacSlot":1}},"dacTable":{"symbol":"table"}}`,
		"middle": `{"base":"old","runtime":"9.0","types":{"A":{"x":11}},"verified":["9.0.1"]}`,
		"loop":   `{"base":"loop","runtime":"9.0"}`,
		"lost":   `{"base":"nowhere","runtime":"9.0"}`,
	}
	find := func(name string) ([]byte, error) {
		if s, ok := base[name]; ok {
			return []byte(s), nil
		}
		return nil, target.ErrUnsupported
	}
	p, err := parseTable([]byte(`{"base":"middle","runtime":"10.0","types":{"A":{"y":null,"w":7},"B":null},"vtables":{"V":null},
		"constants":{"C":null,"D":3},"globals":{"G":{"dacSlot":2}}}`), "mine", find)
	require.NoError(t, err)
	require.Equal(t, "10.0", p.Major)
	require.Empty(t, p.Verified, "what the base was held against proves nothing here")
	require.Equal(t, "table", p.DacTable().Symbol)
	require.Equal(t, map[string]partType{"A": {size: 64, fields: map[string]Field{"x": {Offset: 11}, "w": {Offset: 7}}}}, p.types)
	require.Equal(t, map[string]json.RawMessage{"D": json.RawMessage("3")}, p.constants)
	require.Equal(t, []Slot{{Name: "G", Index: 2}}, p.Slots())
	for _, name := range []string{"loop", "lost"} {
		_, err = parseTable([]byte(base[name]), name, find)
		require.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

// TestPartsAreReadOnce checks that tables are parsed once for many dumps, also from many goroutines.
func TestPartsAreReadOnce(t *testing.T) {
	parts := make([]*Part, 8)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			c := Candidates(target.OSLinux, target.ArchAMD64, "8.0.5")[0]
			if assert.NoError(t, c.Load(true)) {
				parts[i] = c.Parts[0]
			}
		})
	}
	wg.Wait()
	for _, p := range parts {
		assert.Same(t, parts[0], p)
	}
	assert.NotNil(t, parts[0])
}

// TestForms reads descriptors of all forms, with parts that .NET 10 lacks.
func TestForms(t *testing.T) {
	p, err := ParseDescriptor([]byte(`{"version":2,"baseline":"empty","types":{},"globals":{},"contracts":{"Thread":"c1","Loader":1},
		"subDescriptors":{"GC":[[3],"pointer"],"Managed":[4]},"later":{}}`), "test")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"GC": 3, "Managed": 4}, p.SubDescriptors())
	require.Equal(t, []string{"later"}, p.Unknown())
	b := NewBuilder()
	b.Add(p, Addresses{})
	require.Equal(t, "c1", b.Layout().contracts["Thread"])
	require.Equal(t, "1", b.Layout().contracts["Loader"])
	for _, bad := range []string{`{"contracts":{"Thread":{}}}`, `{"subDescriptors":{"GC":7}}`, `{"subDescriptors":{"GC":[-1]}}`} {
		_, err := ParseDescriptor([]byte(bad), "test")
		require.ErrorIs(t, err, target.ErrCorrupt, bad)
	}
}

// TestUnknownContract checks that a contract with an unknown version removes its structures, whatever other
// parts have.
func TestUnknownContract(t *testing.T) {
	p, err := ParseDescriptor([]byte(`{"version":2,"types":{"Thread":{"Id":4},"Module":{"Path":8}},"globals":{"ThreadStore":[[0],"pointer"]},
		"contracts":{"Thread":"c9","Loader":"c1"}}`), "descriptor")
	require.NoError(t, err)
	table, err := parseTable([]byte(`{"types":{"Thread":{"Frame":8}},"globals":{"ThreadStore":{"dacSlot":0}}}`), "table", nil)
	require.NoError(t, err)
	b := NewBuilder()
	b.Add(p, Addresses{Pointer: addresses(0x10)})
	b.Add(table, Addresses{Slot: slots(0x20)})
	l := b.Layout()
	for name, err := range map[string]error{"member": second(l.Offset("Thread", "Id")), "member of a table": second(l.Offset("Thread", "Frame")),
		"global": second(l.Variable("ThreadStore"))} {
		require.ErrorIs(t, err, target.ErrUnsupported, name)
		require.ErrorContains(t, err, "contract Thread has version c9", name)
	}
	off, err := l.Offset("Module", "Path")
	require.NoError(t, err)
	require.Equal(t, 8, off)
	var states []string
	for _, c := range l.Contracts() {
		states = append(states, fmt.Sprintf("%s %s %v", c.Name, c.Version, c.Implemented))
	}
	require.Equal(t, []string{"Loader c1 true", "Thread c9 false"}, states)
}

// TestRenamed checks that a member with another meaning gets another name.
func TestRenamed(t *testing.T) {
	for version, want := range map[string]string{`1`: "ThrownObject", `"c1"`: "Object"} {
		p, err := ParseDescriptor([]byte(`{"types":{"ExceptionInfo":{"ThrownObject":8}},"contracts":{"Exception":`+version+`}}`), "test")
		require.NoError(t, err)
		b := NewBuilder()
		b.Add(p, Addresses{})
		off, err := b.Layout().Offset("ExceptionInfo", want)
		require.NoError(t, err, version)
		require.Equal(t, 8, off)
	}
}

// TestConflict checks that contradicting descriptors are refused.
func TestConflict(t *testing.T) {
	parse := func(text string) *Part {
		p, err := ParseDescriptor([]byte(text), "test")
		require.NoError(t, err)
		return p
	}
	p := parse(`{"types":{"A":{"!":16,"x":8}},"contracts":{"GC":"c1"}}`)
	require.NoError(t, p.Conflict(parse(`{"types":{"A":{"!":16,"x":8,"y":0},"B":{"x":4}},"contracts":{"GC":"c1"}}`)))
	for _, bad := range []string{`{"types":{"A":{"!":24}}}`, `{"types":{"A":{"x":9}}}`, `{"contracts":{"GC":"c2"}}`} {
		require.ErrorIs(t, p.Conflict(parse(bad)), target.ErrCorrupt, bad)
	}
}
