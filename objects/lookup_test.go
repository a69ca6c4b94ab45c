package objects_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestFindsPrintedNames: TypeByName finds the type of each object on the heap by the two names that commands print. If
// two types have one name, it yields both.
func TestFindsPrintedNames(t *testing.T) {
	for _, c := range []struct {
		dump     string
		least    int      // types on the heap
		includes []string // parts of names that are worth a test
	}{
		{"net10-zoo", 200, []string{"<>c__DisplayClass", "<Count>d__", "+<>c", "<>f__AnonymousType0<", "[,]", "[][]", "Dictionary<System.String, ", ">+Entry[]"}},
		{"net10-async", 50, []string{"Scenario+<Inner>d__11>", "AsyncStateMachineBox<"}},
		{"net8-zoo", 190, []string{"<>c__DisplayClass", ">+Entry[]"}},
		{"net31-zoo", 150, []string{"<>c__DisplayClass"}},
		{"fsharp/net31-fsharp", 50, []string{"@"}},
		{"nativeaot/nativeaot10", 40, []string{"[]", "<"}},
		{"nativeaot-crash", 10, []string{"[]"}},
	} {
		t.Run(c.dump, func(t *testing.T) {
			view := openView(t, c.dump)
			r, err := view.Objects()
			require.NoError(t, err)
			types := typesOnHeap(t, view)
			var names strings.Builder
			tested := 0
			for _, mt := range types {
				for _, style := range []dac.NameStyle{dac.NameManaged, dac.NameNative} {
					name, err := r.Runtime().TypeName(mt.Addr, style)
					if err != nil {
						continue
					}
					names.WriteString(name + "\n")
					tested++
					var found []target.Addr
					for typ, err := range r.TypeByName(name, "") {
						if err == nil {
							found = append(found, typ.MT.Addr)
							own, err := r.Runtime().HasName(typ.MT, name)
							assert.True(t, own && err == nil || typ.MT.Addr == mt.Addr || typ.MT.IsOpen(), "%s finds %x", name, uint64(typ.MT.Addr))
						}
					}
					assert.Contains(t, found, mt.Addr, name)
				}
			}
			assert.Greater(t, tested, 2*c.least)
			for _, part := range c.includes {
				assert.Contains(t, names.String(), part)
			}
		})
	}
}

// openView opens the canned dump in a folder of testdata/dumps, with the module files beside it.
func openView(t *testing.T, folder string) *sosgo.View {
	folder = filepath.Join("../testdata/dumps", folder)
	o := sosgo.Options{Offline: true}
	if modules := filepath.Join(folder, "modules"); exists(modules) {
		o.Modules = []string{modules}
	}
	d, err := sosgo.Open(filepath.Join(folder, filepath.Base(folder)+".dmp.zst"), o)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	view, err := d.View("")
	require.NoError(t, err)
	return view
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// typesOnHeap returns the types of the objects on the heap.
func typesOnHeap(t *testing.T, v *sosgo.View) []*dac.MethodTable {
	h, err := v.Heap()
	require.NoError(t, err)
	stats, err := h.Stats(t.Context(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	var out []*dac.MethodTable
	for i := range stats.Types {
		out = append(out, stats.Types[i].Type)
	}
	return out
}

// TestSpellings finds types by the names of reflection and of C#.
func TestSpellings(t *testing.T) {
	r := reader(t)
	for want, spellings := range map[string][]string{
		"System.Int32":   {"int", "System.Int32, System.Private.CoreLib", "System.Int32, System.Private.CoreLib, Version=10.0.0.0, Culture=neutral"},
		"System.String":  {"string"},
		"System.Byte[]":  {"byte[]", "System.Byte[], System.Private.CoreLib"},
		"System.Int32[]": {"int[]"},
		"System.Collections.Generic.List<System.Int32>": {"System.Collections.Generic.List<int>", "System.Collections.Generic.List`1[System.Int32]",
			"System.Collections.Generic.List`1[[System.Int32, System.Private.CoreLib, Version=10.0.0.0, Culture=neutral, PublicKeyToken=7cec85d7bea7798e]]",
			"System.Collections.Generic.List`1[int]", "System.Collections.Generic.List`1[[System.Int32]]",
			"System.Collections.Generic.List`1[[System.Int32, System.Private.CoreLib]], System.Private.CoreLib, Version=10.0.0.0"},
		"System.Collections.Generic.Dictionary<System.String, System.Object>+Entry[]": {"System.Collections.Generic.Dictionary<string,object>.Entry[]",
			"System.Collections.Generic.Dictionary`2+Entry[System.String,System.Object][]"},
		"Debuggee.Zoo.Scenario+<>c": {"Debuggee.Zoo.Scenario.<>c"},
	} {
		typ, err := r.Named(want, "")
		require.NoError(t, err, want)
		for _, s := range spellings {
			got, err := r.Named(s, "")
			if assert.NoError(t, err, s) {
				assert.Same(t, typ, got, s)
			}
		}
	}
	typ, err := r.Named("System.Nullable<System.Int32>", "")
	require.NoError(t, err)
	got, err := r.Named("int?", "")
	require.NoError(t, err)
	assert.Same(t, typ, got)
}

// TestRefusesNames: names that resemble the name of a type find nothing.
func TestRefusesNames(t *testing.T) {
	r := reader(t)
	for _, name := range []string{"", "[]", "System.Collections.Generic.List<int", "System.Collections.Generic.List<int>>", "System.Collections.Generic.List<>",
		"System.Collections.Generic.List`1[[System.Int32, Zoo]]", "System.Collections.Generic.List`1[[", "System.Collections.Generic.List`1[[System.Int32, ",
		"system.int32", "System.Int32[", "Int", "int*", "System.Int32&", "System.Byte[], Debuggee", "[[[[", "<<<<", "A, B, C", ".", "..", "+", "ints[]"} {
		_, err := r.Named(name, "")
		require.ErrorAs(t, err, new(*objects.NoTypeError), name)
		assert.True(t, errors.Is(err, target.ErrNoSuch) || testdump.Typed(err), "%s: %v", name, err)
	}
	_, err := r.Named("System.Byte[]", "Debuggee")
	assert.ErrorIs(t, err, target.ErrNoSuch)
}

// FuzzName looks up arbitrary names: a type is found once, and in the given assembly.
func FuzzName(f *testing.F) {
	r, err := testdump.Open(f, "net10-zoo").Objects()
	require.NoError(f, err)
	for _, name := range []string{"System.Collections.Generic.Dictionary<string, int>+Entry[]", "System.Collections.Generic.List`1[[System.Int32, System.Private.CoreLib]]",
		"System.Collections.Generic.List`1[System.Int32]", "int?", "System.Int32[,]", "Debuggee.Zoo.Outer`1+Inner`1[[", "Debuggee.Zoo.Outer<string>.Inner<int>", "A, B"} {
		f.Add(name, "")
		f.Add(name[:len(name)/2], "Debuggee")
	}
	f.Fuzz(func(t *testing.T, name, assembly string) {
		found := map[target.Addr]bool{}
		for typ, err := range r.TypeByName(name, assembly) {
			if err != nil {
				assert.True(t, testdump.Typed(err), "%v", err)
				continue
			}
			assert.False(t, found[typ.MT.Addr], "found twice")
			found[typ.MT.Addr] = true
			if assembly != "" {
				own, err := r.Runtime().TypeAssembly(typ.MT.Addr)
				require.NoError(t, err)
				assert.True(t, strings.EqualFold(own, assembly))
			}
		}
	})
}
