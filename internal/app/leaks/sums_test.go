package leaks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// every lists holders of any size.
var every = leaks.Options{Bytes: 1, Least: 0.00001, Count: 2, Top: 10_000}

// TestThreadStatics checks that the values of one thread static field in several threads are one holder: it retains what the dominator tree has below the
// field in each thread, and below values that a stack has, too. No other suspect is in one of them.
func TestThreadStatics(t *testing.T) {
	d := testdump.OpenCase(t, "web-net10-withheap")
	g, _, doms := owners(t, d)
	sizes, threads := map[string]uint64{}, map[string]int{}
	most, mostThreads := map[string]uint64{}, map[string]int{} // with values that a stack may have, too
	for n := graph.Node(g.Objects()); n < g.Root(); n++ {
		s := g.Source(n)
		if s.Kind != graph.SourceField || s.Thread == nil {
			continue
		}
		name, err := s.Static.Name()
		require.NoError(t, err)
		most[name] += doms.Retained(n)
		mostThreads[name]++
		if doms.Retained(n) > 0 {
			sizes[name] += doms.Retained(n)
			threads[name]++
			continue
		}
		for _, value := range g.Referents(n) {
			most[name] += doms.Retained(value)
		}
	}
	pooled := false
	summed, points := map[string]bool{}, []target.Addr(nil)
	for _, s := range find(t, d, every).Suspects {
		switch s.Kind {
		case answer.SuspectThreadStatic:
			summed[s.Name.S] = true
			assert.GreaterOrEqual(t, s.Retained, sizes[s.Name.S], s.Name.S)
			assert.LessOrEqual(t, s.Retained, most[s.Name.S], s.Name.S)
			assert.GreaterOrEqual(t, s.Roots, threads[s.Name.S], s.Name.S)
			assert.LessOrEqual(t, s.Roots, mostThreads[s.Name.S], s.Name.S)
			assert.Contains(t, s.Kept.Text, s.Name.S)
			assert.Greater(t, s.Roots, 1)
			pool := strings.HasPrefix(s.Name.S, "System.Buffers.SharedArrayPool<")
			assert.Equal(t, !pool, s.Turnover.IsZero(), s.Name.S) // arrays to be rented are a cache with a limit
			pooled = pooled || pool
		case answer.SuspectObject, answer.SuspectAccumulation:
			points = append(points, s.Point.Address)
		}
	}
	assert.NotEmpty(t, summed)
	assert.True(t, pooled)
	for _, a := range points {
		n, ok := g.Node(a)
		require.True(t, ok)
		for g.IsObject(n) {
			n = doms.Idom(n)
		}
		if s := g.Source(n); s != nil && s.Kind == graph.SourceField && s.Thread != nil {
			name, err := s.Static.Name()
			require.NoError(t, err)
			assert.False(t, summed[name], "%s at %s is a part of a sum", name, a)
		}
	}
}

// TestKept checks that what several roots keep alive is not kept by one of them: the dominator of the outermost owner
// decides.
func TestKept(t *testing.T) {
	d := testdump.OpenCase(t, "web-net10-withheap")
	g, _, doms := owners(t, d)
	one, more := 0, 0
	for _, s := range find(t, d, every).Suspects {
		if s.Kind != answer.SuspectObject || s.Point == nil {
			continue
		}
		n, ok := g.Node(s.Point.Address)
		require.True(t, ok)
		for g.IsObject(n) {
			n = doms.Idom(n)
		}
		source := g.Source(n)
		if source != nil && source.Kind == graph.SourceField {
			one++
			if !strings.HasPrefix(s.Point.Type.S, "System.Collections.") && // parts of collections may have other roots
				!strings.HasPrefix(s.Kept.Text, "kept by a call of ") { // which is nearer than the field
				assert.Empty(t, s.Kept.Text, "%s", s.Text)
			}
		} else if strings.HasPrefix(s.Kept.Text, "kept in ") {
			more++
			assert.NotEqual(t, "a static field keeps it alive until the program removes it or sets the field to null", s.Remedy.Text)
		}
	}
	assert.Positive(t, one)
	assert.Positive(t, more)
}
