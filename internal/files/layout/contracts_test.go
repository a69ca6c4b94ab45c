package layout

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// names11 reads testdata/names11.txt: types with their members, globals, and contracts with their versions.
func names11(t *testing.T) (types map[string][]string, globals map[string]bool, versions map[string]string) {
	text, err := os.ReadFile("testdata/names11.txt")
	require.NoError(t, err)
	types, globals, versions = map[string][]string{}, map[string]bool{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		switch words := strings.Fields(line); words[0] {
		case "type":
			types[words[1]] = words[2:]
		case "global":
			for _, g := range words[1:] {
				globals[g] = true
			}
		case "contract":
			for _, c := range words[1:] {
				name, version, _ := strings.Cut(c, "=")
				versions[name] = version
			}
		}
	}
	return types, globals, versions
}

// before11 lists types and globals of contracts that .NET 11 dropped.
var before11 = strings.Fields("DomainAssembly GCFrame")

// TestRegistryNames compares the registry with the names in descriptors of .NET 11. Each of its contracts must
// have a row, with 11's version if sosgo reads it. Each type and global of a contract must exist under its
// name.
func TestRegistryNames(t *testing.T) {
	types, globals, versions := names11(t)
	for name, version := range versions {
		c := contractNamed(name)
		if assert.NotNil(t, c, name) && c.gives != "" {
			assert.Contains(t, c.implemented, version, name)
		}
	}
	reader := map[string]bool{}
	for _, c := range contracts {
		assert.Contains(t, versions, c.name)
		assert.Equal(t, c.gives == "", c.implemented == nil, c.name)
		for theirs, ours := range c.renamed {
			reader[ours] = true
			if typ, field, ok := strings.Cut(theirs, "."); ok {
				assert.Contains(t, types[typ], field, theirs)
			} else {
				assert.True(t, globals[theirs], theirs)
			}
		}
		for name := range strings.FieldsSeq(c.types) {
			assert.True(t, types[name] != nil || slices.Contains(before11, name), "%s: there is no type %s", c.name, name)
		}
		for name := range strings.FieldsSeq(c.globals) {
			assert.True(t, globals[name] || reader[name], "%s: there is no global %s", c.name, name)
		}
	}
	for _, name := range before11 {
		assert.Nil(t, types[name], name)
	}
}

// TestContractsDocument compares docs/contracts.md with the registry, and the tests listed there with the
// existing ones.
func TestContractsDocument(t *testing.T) {
	text, err := os.ReadFile("../../../docs/contracts.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(strings.TrimSpace(line), " | "); len(cells) == 6 && strings.HasPrefix(cells[0], "| `") {
			rows[strings.Trim(cells[0], "| `")] = cells
		}
	}
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + strings.Join(strings.Fields(s), "` `") + "`"
	}
	tests := allTests(t)
	for _, c := range contracts {
		row := rows[c.name]
		if !assert.NotNil(t, row, "docs/contracts.md has no row for %s", c.name) {
			continue
		}
		delete(rows, c.name)
		rests := strings.TrimSuffix(code(c.types)+"; "+code(c.globals), "; ")
		if c.gives == "" {
			rests = "not read"
		} else if c.types == "" {
			rests = strings.TrimPrefix(rests, "; ")
		}
		want := []string{strings.Join(c.implemented, ", "), rests, c.gives}
		if !assert.Equal(t, want, []string{row[1], row[2], row[3]}, c.name) {
			continue
		}
		assert.NotEmpty(t, row[4], "%s: the source", c.name)
		named := strings.Fields(strings.NewReplacer("`", "", ",", "", "|", "").Replace(row[5]))
		assert.Equal(t, c.gives == "", len(named) == 0, "%s: tests", c.name)
		for _, name := range named {
			assert.True(t, tests[name], "%s: there is no test %s", c.name, name)
		}
	}
	assert.Empty(t, slices.Sorted(maps.Keys(rows)), "docs/contracts.md has rows of no contract")
}

// allTests returns the names of the project's tests.
func allTests(t *testing.T) map[string]bool {
	out, err := exec.Command("grep", "-rhoE", "--include=*_test.go", "^func (Test|Fuzz)[A-Za-z0-9]*", "../../..").Output()
	require.NoError(t, err)
	names := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		names[strings.TrimPrefix(strings.TrimSpace(line), "func ")] = true
	}
	return names
}

// TestLies parses impossible descriptors. Each must be an error with a reason, or lose the inconsistent type.
func TestLies(t *testing.T) {
	subs := make([]string, limits.SubDescriptors+1)
	for i := range subs {
		subs[i] = fmt.Sprintf(`"S%d":[1]`, i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"duplicate type":       {`{"types":{"A":{"x":1},"B":{},"A":{"x":2}}}`, `"A" is there twice`},
		"duplicate member":     {`{"types":{"A":{"x":1,"x":1}}}`, `"x" is there twice`},
		"duplicate key":        {`{"version":2,"types":{},"version":0}`, `"version" is there twice`},
		"duplicate contract":   {`{"contracts":{"GC":"c1","GC":"c2"}}`, `"GC" is there twice`},
		"same name elsewhere":  {`{"types":{"A":{"x":1},"B":{"x":1}},"globals":{"A":["x \"x\" \\","string"],"x":[1]}}`, ""},
		"many sub-descriptors": {`{"subDescriptors":{` + strings.Join(subs, ",") + `}}`, "17 sub-descriptors"},
		"deep JSON":            {`{"later":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, "exceeded max depth"},
	} {
		_, err := ParseDescriptor([]byte(c.text), "test")
		if c.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, target.ErrCorrupt, name)
		require.ErrorContains(t, err, c.want, name)
	}

	p, err := ParseDescriptor([]byte(`{"types":{"A":{"!":16,"x":8,"y":17},"B":{"!":16,"end":16},"C":{"!":0}}}`), "test")
	require.NoError(t, err)
	require.ErrorContains(t, p.TypeErrors(), "type A: the contract descriptor has y at byte 17 of a structure of 16 bytes")
	table, err := parseTable([]byte(`{"types":{"A":{"x":8}}}`), "table", nil)
	require.NoError(t, err)
	b := NewBuilder()
	b.Add(p, Addresses{})
	b.Add(table, Addresses{})
	l := b.Layout()
	_, err = l.Offset("A", "x")
	require.ErrorIs(t, err, target.ErrCorrupt)
	require.NotErrorIs(t, err, target.ErrUnsupported)
	end, err := l.Offset("B", "end")
	require.NoError(t, err)
	require.Equal(t, 16, end)
	var size struct {
		Size int `layout:"size"`
	}
	require.ErrorIs(t, l.Bind("C", &size), target.ErrCorrupt, "nobody divides by a size of 0")
}

// TestLargestDescriptor parses as much JSON as the limit allows.
func TestLargestDescriptor(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"types":{"A":{`)
	for i := 0; text.Len() < limits.DescriptorJSON-64; i++ {
		fmt.Fprintf(&text, `"f%d":%d,`, i, i&0xfff)
	}
	text.WriteString(`"last":1}}}`)
	start := time.Now()
	_, err := ParseDescriptor([]byte(text.String()), "test")
	require.NoError(t, err)
	require.Less(t, time.Since(start), 10*time.Second)
}

// TestConflictingGlobals checks that descriptors must agree on values.
func TestConflictingGlobals(t *testing.T) {
	parse := func(text string) *Part {
		p, err := ParseDescriptor([]byte(text), "test")
		require.NoError(t, err)
		return p
	}
	p := parse(`{"globals":{"N":1,"T":["x","string"],"V":[[1],"pointer"]}}`)
	require.NoError(t, p.Conflict(parse(`{"globals":{"N":["0x1","uint32"],"T":["x","string"],"V":[[7],"pointer"],"more":2}}`)), "pointers have numbers of their own")
	for _, bad := range []string{`{"globals":{"N":2}}`, `{"globals":{"T":["y","string"]}}`, `{"globals":{"V":3}}`} {
		require.ErrorIs(t, p.Conflict(parse(bad)), target.ErrCorrupt, bad)
	}
}

// TestRefusedStructures binds structures of a contract that is not implemented. Structures marked refusable
// must be absent.
func TestRefusedStructures(t *testing.T) {
	bind := func(version string) (absent [2]bool, err error) {
		p, err := ParseDescriptor([]byte(`{"types":{"Thread":{"Id":4},"String":{"m_FirstChar":8}},"contracts":{"Thread":"`+version+`","Object":"c1"}}`), "test")
		require.NoError(t, err)
		b := NewBuilder()
		b.Add(p, Addresses{})
		var o struct {
			Thread struct {
				ID int `layout:"Id"`
			} `struct:",refusable"`
			String struct {
				First int `layout:"m_FirstChar"`
			} `struct:",refusable"`
		}
		err = b.Layout().BindAll(&o)
		return [2]bool{o.Thread.ID == Absent, o.String.First == Absent}, err
	}
	absent, err := bind("c1")
	require.NoError(t, err)
	require.Equal(t, [2]bool{}, absent)
	absent, err = bind("c9")
	require.NoError(t, err)
	require.Equal(t, [2]bool{true, false}, absent)
}

// TestTablesOverrideNothing checks that supplements only contain members that descriptors of their version
// lack, and that a member, address or number of the process's own descriptor always wins.
func TestTablesOverrideNothing(t *testing.T) {
	for _, name := range tableNames("supplement") {
		p, err := readTable(name)
		require.NoError(t, err)
		number, system, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(name, ".json"), "tables/supplement"), "-")
		if p.Like == "" {
			d, err := newestDescriptor(number+".0", strings.Split(system, "-")[0], strings.Split(system, "-")[1])
			require.NoError(t, err)
			if d == nil && len(p.Verified) == 0 { // derived for a processor without a known build: descriptors of all processors have the same members
				d, err = newestDescriptor(number+".0", strings.Split(system, "-")[0], "x64")
				require.NoError(t, err)
			}
			require.NotNil(t, d, name)
			for typ, m := range p.types {
				theirs, both := d.types[typ]
				assert.False(t, both && m.size >= 0 && theirs.size >= 0, "%s has the size of %s, which the descriptor has", name, typ)
				for field := range m.fields {
					assert.NotContains(t, d.types[typ].fields, field, "%s has %s.%s, which the descriptor has", name, typ, field)
				}
			}
		}

		// a descriptor with all members of the table at other offsets
		own := &Part{Source: "own", types: map[string]partType{}, globals: map[string]partGlobal{}}
		for typ, m := range p.types {
			mine := partType{size: 1 << 16, fields: map[string]Field{}}
			for field, f := range m.fields {
				mine.fields[field] = Field{Offset: f.Offset + 8}
			}
			own.types[typ] = mine
		}
		for g := range p.globals {
			own.globals[g] = partGlobal{index: 0, slot: -1}
		}
		b := NewBuilder()
		b.Add(own, Addresses{Pointer: addresses(0x1000)})
		b.Add(p, Addresses{Slot: func(int) (target.Addr, error) { return 0x2000, nil }})
		for _, m := range b.Layout().Members() {
			if _, constant := p.constants[strings.TrimPrefix(m.Name, "constant ")]; !constant && !strings.HasPrefix(m.Name, "vtable ") {
				assert.Equal(t, "own", m.Source, "%s: %s", name, m.Name)
			}
		}
	}
}

// TestLikeTable adapts the table of .NET 11 to descriptors of 11 in which members of 10 moved.
func TestLikeTable(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want map[string]int // -1: dropped
		last bool           // Thread.GCFrame is assumed
	}{
		"nothing moved": {`{"version":2,"types":{"MethodTable":{"!":64,"PerInstInfo":48},"Thread":{"ThreadLocalDataPtr":568,"CachedStackBase":120},
			"TableSegment":{"NextSegment":1998,"RgUserData":1680,"RgValue":4096}}}`,
			map[string]int{"MethodTable.InterfaceMap": 56, "Thread.GCFrame": 688, "Thread.TailCallArgBuffer": 608, "TableSegment.BlockType": 1560, "TableSegment.HandleTable": 2006}, true},
		"a member before": {`{"version":2,"types":{"Thread":{"ThreadLocalDataPtr":560}}}`, map[string]int{"Thread.GCFrame": 680}, true},
		"the newer descriptor has the end of Thread": {`{"version":2,"types":{"Thread":{"ThreadLocalDataPtr":560,"GCFrame":680}}}`,
			map[string]int{"Thread.GCFrame": 680, "Thread.TailCallArgBuffer": 600}, false},
		"the end moved apart": {`{"version":2,"types":{"Thread":{"ThreadLocalDataPtr":560,"GCFrame":696}}}`,
			map[string]int{"Thread.GCFrame": 696, "Thread.TailCallArgBuffer": -1}, false},
		"interfaces moved apart": {`{"version":2,"types":{"MethodTable":{"!":72,"PerInstInfo":48}}}`, map[string]int{"MethodTable.InterfaceMap": -1}, true},
		"other segments": {`{"version":2,"types":{"TableSegment":{"NextSegment":2000,"RgUserData":1688,"RgValue":4096}}}`,
			map[string]int{"TableSegment.BlockType": -1, "TableSegment.HandleTable": -1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			own, err := ParseDescriptor([]byte(c.text), "own")
			require.NoError(t, err)
			cand := Candidates(target.OSLinux, target.ArchAMD64, "11.0.0")[0]
			require.NoError(t, cand.Load(false))
			require.NoError(t, cand.Fits(own))
			require.NoError(t, cand.Adopt(&Part{}, own), "a type may be in any of the descriptors")
			table := cand.Parts[0]
			for member, want := range c.want {
				typ, field, _ := strings.Cut(member, ".")
				f, ok := table.types[typ].fields[field]
				if want < 0 {
					assert.False(t, ok, member)
					assert.Error(t, table.doubts[member], member)
				} else if assert.True(t, ok, "%s: %v", member, table.doubts[member]) {
					assert.Equal(t, want, f.Offset, member)
				}
			}
			assert.Equal(t, c.last, table.Assumed("Thread.GCFrame"))
			assert.True(t, table.Assumed("StackTraceElement.IP"), "nobody describes it")

			less := table.Without(map[string]error{"Thread.GCFrame": target.Unsupportedf("nothing proves it")})
			b := NewBuilder()
			b.Add(less, Addresses{})
			_, err = b.Layout().Offset("Thread", "GCFrame")
			require.ErrorIs(t, err, target.ErrUnsupported)
			require.ErrorContains(t, err, "Thread.GCFrame of this runtime: nothing proves it")
			assert.True(t, table.Has("Thread.GCFrame"))
		})
	}
}
