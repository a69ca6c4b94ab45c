package acceptance_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestObjectFacts compares the heap with the dumped programs' facts about their objects: address,
// type and generation.
func TestObjectFacts(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		facts := d.Manifest.Objects()
		if !d.HasHeap() || len(facts) == 0 {
			t.Skip("no facts about a heap in the dump")
		}
		h, err := d.Heap()
		require.NoError(t, err)
		for _, f := range facts {
			o, err := h.ObjectAt(f.Addr)
			if err != nil {
				t.Errorf("%s: %v", f.Name, err)
				continue
			}
			name, err := h.Runtime().TypeName(o.Type.Addr, dac.NameManaged)
			if want := testdump.ManagedName(f.Type); err != nil || name != want {
				t.Errorf("%s at %v is a %s (%v), want %s", f.Name, f.Addr, name, err, want)
			}
			if got := h.Segment(f.Addr).Generation(f.Addr); !sameGeneration(got, f.Generation) {
				t.Errorf("%s at %v is in %v, want generation %d", f.Name, f.Addr, got, f.Generation)
			}
		}
	})
}

// sameGeneration compares a generation with the result of GC.GetGeneration, which is 2 for large
// and pinned objects.
func sameGeneration(got heap.Generation, want int) bool {
	switch got {
	case heap.GenerationLarge, heap.GenerationPinned:
		return want == 2
	case heap.GenerationFrozen:
		return want == testdump.Frozen
	}
	return int(got) == want
}

// TestTypeFacts compares MethodTables with the type handles that the dumped programs printed.
func TestTypeFacts(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		facts := d.Manifest.Types()
		if len(facts) == 0 || !d.HasRuntime() {
			t.Skip("no facts about types")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		for _, f := range facts {
			name, err := rt.TypeName(f.Addr, dac.NameManaged)
			if errors.Is(err, target.ErrNotInDump) && !d.HasHeap() {
				continue // a partial dump has only the types on its stacks
			}
			if want := testdump.ManagedName(f.Name); err != nil || name != want {
				t.Errorf("%v is %s (%v), want %s", f.Addr, name, err, want)
			}
		}
	})
}

// TestRuntimeFacts compares the runtimes with the manifests.
func TestRuntimeFacts(t *testing.T) {
	testdump.Each(t, func(t *testing.T, d *testdump.Dump) {
		require.NotEmpty(t, d.Runtimes())
		if !d.HasRuntime() {
			t.Skip("compiled ahead of time")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		require.NotEmpty(t, rt.Probes())
		for _, p := range rt.Probes() {
			require.NotEqual(t, dac.ProbeFailed, p.Result, p.Name)
		}
	})
}
