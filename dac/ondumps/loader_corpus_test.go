package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// nativeBlock is a block of a native heap in the oracle.
type nativeBlock struct {
	r    target.Range
	kind string
}

// TestNativeHeaps compares loader heaps and code heaps, block by block and with the current block of each.
func TestNativeHeaps(t *testing.T) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		want := map[nativeBlock]string{}
		d.Oracle(t, "nativeheaps", func(l map[string]any) {
			kind, _ := l["kind"].(string)
			if kind == "Unknown" || strings.HasSuffix(kind, "Heap") {
				state, _ := l["state"].(string)
				want[nativeBlock{target.Range{Start: testdump.Address(l["start"]), End: testdump.Address(l["end"])}, kind}] = state
			}
		})
		rt, err := d.Runtime()
		require.NoError(t, err)
		got := ownBlocks(t, rt)
		for b, state := range want {
			current, ok := got[b]
			if b.kind == "Unknown" { // the oracle's tool does not know the StaticsHeap
				current, ok = got[nativeBlock{b.r, dac.StaticsHeap.String()}]
			}
			if assert.True(t, ok, "missing: %s %v", b.kind, b.r) {
				assert.Equal(t, state == "Active", current, "current: %s %v", b.kind, b.r)
			}
		}
		if !d.HasHeap() {
			return len(want) // the oracle's tool finds less in partial dumps
		}
		for b := range got {
			_, ok := want[b]
			unknown := b.kind == dac.StaticsHeap.String() // to the oracle's tool
			assert.True(t, ok || unknown || b.r.Size() == 0, "not in the oracle: %s %v", b.kind, b.r)
		}
		return len(want)
	})
}

func ownBlocks(t *testing.T, rt *dac.Runtime) map[nativeBlock]bool {
	got := map[nativeBlock]bool{}
	add := func(h *dac.LoaderHeap) {
		for _, b := range h.Blocks {
			got[nativeBlock{b.Range, h.Kind.String()}] = b.Current
		}
	}
	global, err := rt.GlobalLoaderAllocator()
	require.NoError(t, err)
	allocators := map[target.Addr]bool{global: true}
	mods, _ := rt.KnownModules()
	for _, m := range mods {
		if a, err := m.LoaderAllocator(); err == nil {
			allocators[a] = true // collectible assemblies have their own
		}
	}
	for a := range allocators {
		l, err := rt.LoaderAllocator(a)
		require.NotNil(t, l, "%v", err)
		for i := range l.Heaps {
			add(&l.Heaps[i])
		}
	}
	code, _ := rt.CodeHeaps()
	for i := range code {
		add(&code[i].LoaderHeap)
	}
	return got
}

// TestLoadContexts checks that modules were loaded into AssemblyLoadContexts and that LoaderAllocators keep
// collectible types alive.
func TestLoadContexts(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		mods, _ := rt.KnownModules()
		contexts := 0
		for _, m := range mods {
			obj, err := m.LoadContext()
			if err != nil || obj == 0 {
				continue // not recorded in older runtimes and partial dumps
			}
			contexts++
			assert.Contains(t, objectType(t, rt, obj), "LoadContext")
		}
		t.Logf("%d of %d modules have a managed load context", contexts, len(mods))
		if d.Canned {
			return // without an oracle
		}
		d.Oracle(t, "types", func(l map[string]any) {
			handle := testdump.Address(l["loaderAllocatorHandle"])
			if handle == 0 {
				return
			}
			mt, err := rt.MethodTable(testdump.Address(l["mt"]))
			require.NoError(t, err)
			want, err := target.Pointer(rt.Memory(), handle)
			require.NoError(t, err)
			got, err := rt.LoaderAllocatorObject(mt)
			require.NoError(t, err)
			assert.Equal(t, want, got, "%v", l["name"])
			assert.Equal(t, "System.Reflection.LoaderAllocator", objectType(t, rt, got))
		})
	})
}

func objectType(t *testing.T, rt *dac.Runtime, a target.Addr) string {
	mt, err := rt.ObjectMethodTable(a)
	require.NoError(t, err)
	name, err := rt.TypeName(mt, dac.NameManaged)
	require.NoError(t, err)
	return name
}

// TestInterfaces compares the names of the interfaces of every type.
func TestInterfaces(t *testing.T) {
	testdump.CorpusRuntimes(t, func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtime()
		require.NoError(t, err)
		compared := 0
		d.Oracle(t, "types", func(l map[string]any) {
			want, ok := l["interfaces"].([]any)
			if !ok {
				return
			}
			mt, err := rt.MethodTable(testdump.Address(l["mt"]))
			if err != nil {
				return
			}
			got, err := rt.Interfaces(mt)
			if err != nil && !d.HasHeap() {
				return
			}
			require.NoError(t, err)
			var names []string
			for _, i := range got {
				name, err := rt.TypeName(i, dac.NameManaged)
				if err != nil && !d.HasHeap() {
					return
				}
				require.NoError(t, err)
				names = append(names, name)
			}
			for _, w := range want {
				if assert.Contains(t, names, w, "%v", l["name"]) {
					compared++
				}
			}
		})
		t.Logf("%d interfaces", compared)
		if compared == 0 {
			t.Skip("the oracle names no interfaces, or the dump lacks them")
		}
		return compared
	})
}
