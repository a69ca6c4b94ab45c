package graph_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// withHeap selects cases with a GC heap in the dump.
func withHeap(c *testcase.Case) bool { return c.HasRuntime() && c.HasHeap() }

// reader returns the Reader of roots of a dump's default runtime.
func reader(t *testing.T, d *testdump.Dump) (*graph.RootReader, *heap.Heap) {
	t.Helper()
	v, err := d.View("")
	require.NoError(t, err)
	r, err := v.RootReader()
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	return r, h
}

// An oracleRoot is a line of oracle/roots.jsonl. A StaticVar that is not Additional is a handle of a type unknown to
// the oracle: a weak interior pointer.
type oracleRoot struct {
	Address, Object, Kind string
	Additional            bool
}

// TestAll: handles and the finalizer queue are as in the oracle, and every root of every kind leads to an object of the
// heap.
func TestAll(t *testing.T) {
	testdump.Corpus(t, withHeap, func(t *testing.T, d *testdump.Dump) int {
		r, h := reader(t, d)
		want := map[target.Addr]target.Addr{}
		for _, line := range testcase.OracleIfAny[oracleRoot](t, d.Case, "roots") {
			if line.Address != "" && line.Kind != "StaticVar" && line.Kind != "ThreadStaticVar" {
				want[testcase.Address(line.Address)] = testcase.Address(line.Object)
			}
		}
		count, missing := map[graph.RootKind]int{}, 0
		for root, err := range r.All(t.Context(), graph.RootOptions{}) {
			if err != nil {
				assert.True(t, testdump.Typed(err), "%v", err)
				missing++
				continue
			}
			count[root.Kind]++
			assert.True(t, root.Strong())
			_, err := h.ObjectAt(root.Object)
			assert.NoError(t, err, "%v at %v", root.Kind, root.Address)
			if root.Kind == graph.RootHandle || root.Kind == graph.RootFinalizer {
				if object, ok := want[root.Address]; ok {
					assert.Equal(t, object, root.Object)
				}
				delete(want, root.Address)
			}
		}
		assert.Empty(t, want, "roots of the oracle that are missing")
		assert.NotZero(t, count[graph.RootStack])
		t.Log(count, missing, "errors")
		return count[graph.RootHandle]
	})
}

// TestStatics: the oracle's static fields that refer to objects are found. Each slot lies in an object that is kept
// alive by a root, by the table of a thread's thread statics, or by the LoaderAllocator of its type.
func TestStatics(t *testing.T) {
	type static struct {
		Address string
		Kind    string
		Name    string
		Value   any
	}
	testdump.Corpus(t, withHeap, func(t *testing.T, d *testdump.Dump) int {
		r, h := reader(t, d)
		held := map[target.Addr]bool{}
		for root, err := range r.All(t.Context(), graph.RootOptions{NoStacks: true}) {
			if err != nil {
				continue
			}
			held[root.Object] = true
			if o, err := h.ObjectAt(root.Object); err == nil && root.Kind == graph.RootThreadStatics {
				for ref, err := range h.References(o) {
					require.NoError(t, err)
					held[ref.Target] = true
				}
			}
		}
		for _, line := range testcase.OracleIfAny[oracleRoot](t, d.Case, "roots") {
			if line.Additional {
				assert.True(t, held[testcase.Address(line.Object)], "%s %s", line.Kind, line.Object)
			}
		}
		got, perThread, unloadable := map[target.Addr]target.Addr{}, 0, 0
		for s, err := range r.Statics(t.Context()) {
			if err != nil {
				assert.True(t, testdump.Typed(err), "%v", err)
				continue
			}
			got[s.Slot] = s.Object
			name, err := s.Name()
			assert.NoError(t, err)
			assert.NotZero(t, s.Table, name)
			mt := s.Field.Declaring.MT
			allocator, err := h.Runtime().LoaderAllocatorObject(mt)
			require.NoError(t, err)
			if allocator == 0 {
				assert.True(t, held[s.Table], "the table of %s has no root", name)
			} else {
				unloadable++
				assert.True(t, leadsTo(t, h, allocator, s.Table, 2), "the LoaderAllocator does not hold the table of %s", name)
			}
			_, err = h.ObjectAt(s.Object)
			assert.NoError(t, err, name)
			if s.Thread != nil {
				perThread++
			}
		}
		compared := 0
		for _, line := range testcase.OracleIfAny[static](t, d.Case, "statics") {
			value, ok := line.Value.(map[string]any)
			object, isObject := value["object"].(string)
			if !ok || !isObject || testcase.Address(object) == 0 {
				continue
			}
			compared++
			assert.Equal(t, testcase.Address(object), got[testcase.Address(line.Address)], line.Name)
		}
		t.Log(len(got), "statics,", perThread, "of threads,", unloadable, "of collectible types,", compared, "compared")
		return len(got)
	})
}

// leadsTo reports whether an object refers to another in a few steps.
func leadsTo(t *testing.T, h *heap.Heap, from, to target.Addr, steps int) bool {
	o, err := h.ObjectAt(from)
	require.NoError(t, err)
	for ref, err := range h.References(o) {
		require.NoError(t, err)
		if ref.Target == to || steps > 1 && leadsTo(t, h, ref.Target, to, steps-1) {
			return true
		}
	}
	return false
}
