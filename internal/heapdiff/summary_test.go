package heapdiff_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/heapdiff"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

func summarize(t *testing.T, d *sosgo.Dump, paths bool, o heap.ScanOptions) *heapdiff.Summary {
	t.Helper()
	if paths {
		v, err := d.View("")
		require.NoError(t, err)
		g, err := v.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
		r, err := d.Objects()
		require.NoError(t, err)
		s, err := heapdiff.SummarizeGraph(t.Context(), "dump", g, g.Names(r), heapdiff.GraphOptions{Jobs: o.Jobs})
		require.NoError(t, err)
		return s
	}
	h, err := d.Heap()
	require.NoError(t, err)
	s, err := heapdiff.Summarize(t.Context(), "dump", h, o)
	require.NoError(t, err)
	return s
}

// TestSummarize: types and generations have the counts of dumpheap -stat and gcheapstat. A dump does not differ from
// itself. The number of workers does not matter.
func TestSummarize(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		h, err := d.Heap()
		if err != nil || len(h.Segments()) == 0 || len(d.Manifest.Objects()) == 0 {
			t.Skip("no heap in the dump")
		}
		s := summarize(t, d.Dump, false, heap.ScanOptions{Jobs: 1})
		stats, err := h.Stats(t.Context(), nil, heap.ScanOptions{})
		require.NoError(t, err)
		sum := heapdiff.Count{Objects: s.Nameless.Objects, Size: s.Nameless.Size + s.Free}
		for _, c := range s.Types {
			sum.Objects, sum.Size = sum.Objects+c.Objects, sum.Size+c.Size
		}
		assert.Equal(t, stats.Size, sum.Size)
		assert.Equal(t, s.Total.Objects, sum.Objects)
		assert.Equal(t, s.Total.Size, sum.Size-s.Free)
		var gens heapdiff.Count
		for _, c := range s.Generations {
			gens.Objects, gens.Size = gens.Objects+c.Objects, gens.Size+c.Size
		}
		assert.Equal(t, s.Total, gens)
		again := summarize(t, d.Dump, false, heap.ScanOptions{Jobs: 3})
		assert.Equal(t, s, again)
		diff := heapdiff.Compare([]*heapdiff.Summary{s, again}, heapdiff.Options{})
		assert.Empty(t, diff.Types)
		assert.Zero(t, diff.Objects.SizeChange)
	})
}

// TestUnrelated: dumps of one program are related whatever its runtime; dumps of two programs are not.
func TestUnrelated(t *testing.T) {
	open := func(path string) *heapdiff.Summary {
		d, err := sosgo.Open(path, sosgo.Options{Offline: true})
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("there are no canned dumps here")
		}
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		return summarize(t, d, false, heap.ScanOptions{})
	}
	zoo := summarize(t, testdump.Open(t, "net10-zoo").Dump, false, heap.ScanOptions{})
	locks, pocket := open("../../testdata/dumps/locks/net10-locks/net10-locks.dmp.zst"), summarize(t, testdump.Open(t, "net10-arm64").Dump, false, heap.ScanOptions{})
	why := func(a, b *heapdiff.Summary) string {
		d := heapdiff.Compare([]*heapdiff.Summary{a, b}, heapdiff.Options{})
		assert.Empty(t, d.Dumps[0].Unrelated)
		return d.Dumps[1].Unrelated
	}
	assert.Equal(t, "Debuggee", zoo.Program)
	assert.Equal(t, "its main assembly is "+locks.Program+", and that of dump 1 is Debuggee", why(zoo, locks))
	assert.Equal(t, "its main assembly is Pocket, and that of dump 1 is "+locks.Program, why(locks, pocket))
	assert.Equal(t, "its main assembly is Pocket, and that of dump 1 is Debuggee", why(zoo, pocket))
	for _, name := range []string{"net9-zoo", "net8-zoo", "net31-zoo", "win-net10-zoo", "net10-zoo-servergc", "net10-stacks"} {
		other := summarize(t, testdump.Open(t, name).Dump, false, heap.ScanOptions{})
		assert.Empty(t, why(zoo, other), name)
		unknown := *other
		unknown.Program = ""
		assert.Empty(t, why(zoo, &unknown), "%s: common types", name)
	}
	foreign := &heapdiff.Summary{Types: map[heapdiff.TypeKey]heapdiff.Count{{Name: "a"}: {}, {Name: "b"}: {}}}
	assert.Contains(t, why(zoo, foreign), "only 0 of its 2 types are in dump 1")
	empty := &heapdiff.Summary{}
	assert.Empty(t, why(zoo, empty))
	assert.Empty(t, why(empty, empty))
}

// TestPathsOfLeaks: the leaks of the heap cases' program are kept alive by the static fields that its source names.
func TestPathsOfLeaks(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net10-heap-withheap"), func(t *testing.T, d *testdump.Dump) int {
		before := testdump.Open(t, "net10-zoo")
		list := []*heapdiff.Summary{summarize(t, before.Dump, true, heap.ScanOptions{}), summarize(t, d.Dump, true, heap.ScanOptions{})}
		diff := heapdiff.Compare(list, heapdiff.Options{})
		at := map[string]answer.PathGrowth{}
		var live uint64
		for _, p := range diff.Paths {
			if _, ok := at[p.Name]; !ok {
				at[p.Name] = p
			}
			if p.Depth == 0 {
				live += p.Counts[1]
			}
		}
		for _, field := range []string{"Debuggee.Heap.Scenario.Bus", "Debuggee.Heap.Scenario.Cache", "Debuggee.Heap.Scenario.s_keep"} {
			assert.Contains(t, at, field)
			assert.Equal(t, 1, at[field].Depth)
		}
		assert.GreaterOrEqual(t, at["Debuggee.Heap.Subscriber"].Sizes[1], uint64(499*(1024+24)), "the subscribers with their payload")
		v, err := d.View("")
		require.NoError(t, err)
		g, err := v.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
		reach, err := g.Reach(t.Context())
		require.NoError(t, err)
		objects, _ := reach.Count()
		assert.LessOrEqual(t, live, objects)
		return len(diff.Paths)
	})
}

// TestCompareAddresses: a dump has all of its own objects at the same addresses, and another process has few.
func TestCompareAddresses(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		built := func(d *testdump.Dump) *graph.Graph {
			v, err := d.View("")
			require.NoError(t, err)
			g, err := v.Graph(t.Context(), graph.Options{})
			require.NoError(t, err)
			return g
		}
		if _, err := d.Runtime(); errors.Is(err, target.ErrUnsupported) {
			t.Skip(err) // a heap without a CLR has no known roots
		}
		if h, err := d.Heap(); err != nil || len(h.Segments()) == 0 {
			t.Skip("no heap in the dump")
		}
		if _, err := d.Runtime(); err != nil {
			t.Skip("nothing says what keeps objects alive:", err)
		}
		if v, err := d.View(""); err == nil {
			if _, err := v.Graph(t.Context(), graph.Options{}); errors.Is(err, target.ErrNotInDump) {
				t.Skip("the heap is not in the dump:", err)
			}
		}
		g := built(d)
		same, err := heapdiff.CompareAddresses(t.Context(), g, g)
		require.NoError(t, err)
		assert.Equal(t, same.Of, same.Same)
		assert.Equal(t, uint64(g.Objects()), same.Of.Objects)
		other, err := heapdiff.CompareAddresses(t.Context(), g, built(testdump.Open(t, "net31-zoo")))
		require.NoError(t, err)
		if !strings.HasPrefix(d.Manifest.Name, "net31-zoo") {
			assert.LessOrEqual(t, other.Same.Objects, same.Of.Objects/2)
		}
	})
}

// TestSummarizeGraph: a graph has the same objects as its heap. Several workers find the same paths as one, even if
// there are too many and some are omitted.
func TestSummarizeGraph(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if h, err := d.Heap(); err != nil || len(h.Segments()) == 0 || len(d.Manifest.Objects()) == 0 {
			t.Skip("no heap in the dump")
		}
		scanned, one := summarize(t, d.Dump, false, heap.ScanOptions{}), summarize(t, d.Dump, true, heap.ScanOptions{Jobs: 1})
		own := *one
		own.Paths, own.Gaps = nil, scanned.Gaps
		assert.Equal(t, *scanned, own)
		v, err := d.View("")
		require.NoError(t, err)
		g, err := v.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
		r, err := d.Objects()
		require.NoError(t, err)
		for _, most := range []int{0, 20} {
			var rows [2]*answer.HeapDiff
			for i, jobs := range []int{1, 4} {
				o := heapdiff.GraphOptions{Jobs: jobs}.WithMost(most)
				s, err := heapdiff.SummarizeGraph(t.Context(), "", g, g.Names(r), o)
				require.NoError(t, err)
				rows[i] = heapdiff.Compare([]*heapdiff.Summary{{Paths: &heapdiff.Paths{}}, s}, heapdiff.Options{})
			}
			require.NotEmpty(t, rows[0].Paths)
			assert.Equal(t, rows[0], rows[1], "at most %d", most)
			if most > 0 {
				assert.Contains(t, errors.Join(rows[0].Noted()...).Error(), "more than 20 different paths")
			}
		}
	})
}
