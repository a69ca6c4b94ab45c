package graph_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestDescribe: each thread's handle leads to its managed object, a strong handle of an object[] with the values of
// statics is named, and variables have the names in the program's source.
func TestDescribe(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-zoo-withheap", "net9-zoo-withheap", "net8-zoo-withheap", "net31-zoo-withheap", "net10-stacks-full",
		"win-net6-zoo-withheap"), func(t *testing.T, d *testdump.Dump) int {
		r, h := reader(t, d)
		named, tables, variables := 0, 0, map[string]bool{}
		for root, err := range r.All(t.Context(), graph.RootOptions{Weak: true}) {
			if err != nil {
				continue
			}
			a := r.Describe(t.Context(), &root)
			assert.NotEmpty(t, a.Name)
			assert.Equal(t, root.Strong(), a.Strong)
			if strings.HasPrefix(a.Holder, "the managed object of thread") {
				o, err := h.ObjectAt(root.Object)
				assert.NoError(t, err)
				name, err := h.Runtime().TypeName(o.Type.Addr, 0)
				assert.NoError(t, err)
				assert.Equal(t, "System.Threading.Thread", name)
				named++
			}
			if a.Holder == "the values of static fields" {
				assert.True(t, root.Handle == heap.HandleStrong || root.Handle == heap.HandlePinned)
				tables++
			}
			if a.Variable.S != "" {
				variables[a.Variable.S] = true
			}
		}
		assert.NotZero(t, named)
		assert.NotZero(t, tables)
		for _, want := range []string{"this", "args"} {
			assert.True(t, variables[want], want)
		}
		if !strings.Contains(d.Name, "stacks") {
			assert.True(t, variables["all"], "the argument of Scenario.Wait")
		}
		t.Log(named, "of threads,", tables, "of statics", variables)
		return named
	})
}

// TestRuntimeGlobals: the exceptions that the runtime preallocates for a lack of memory or stack are named as such,
// each once. No handle of the program is.
func TestRuntimeGlobals(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-zoo-withheap", "net8-zoo-withheap", "net31-zoo-withheap", "win-net10-zoo-withheap"),
		func(t *testing.T, d *testdump.Dump) int {
			r, h := reader(t, d)
			found := map[string]int{}
			for root, err := range r.All(t.Context(), graph.RootOptions{}) {
				if err != nil || root.Kind != graph.RootHandle {
					continue
				}
				holder := r.Describe(t.Context(), &root).Holder
				if name, ok := strings.CutPrefix(holder, "the preallocated "); ok {
					found[name]++
					o, err := h.ObjectAt(root.Object)
					assert.NoError(t, err)
					managed, err := h.Runtime().TypeName(o.Type.Addr, 0)
					assert.NoError(t, err)
					assert.Equal(t, managed, name)
				}
			}
			for _, want := range []string{"OutOfMemory", "StackOverflow", "ExecutionEngine"} {
				assert.Equal(t, 1, found["System."+want+"Exception"], want)
			}
			for _, fact := range d.Manifest.Objects() {
				for e, err := range h.Handles() {
					if err == nil && e.Object == fact.Addr {
						assert.NotContains(t, r.Holder(e.Addr), "the runtime", fact.Name)
					}
				}
			}
			return len(found)
		})
}
