package heapdiff

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

func summary(name string, types map[TypeKey]Count) *Summary {
	s := &Summary{Name: name, Types: types}
	for _, c := range types {
		s.Total.add(c)
	}
	return s
}

func names(list []answer.Growth) (out []string) {
	for i := range list {
		out = append(out, list[i].Assembly+"!"+list[i].Name.String())
	}
	return out
}

// TestCompareTypes: growth comes first, unchanged rows are omitted, and rows that grew each time are marked. Types of
// the same name in two assemblies are two rows.
func TestCompareTypes(t *testing.T) {
	a, b, c, d := TypeKey{"A", "T"}, TypeKey{"B", "T"}, TypeKey{"A", "U"}, TypeKey{"", "V"}
	list := []*Summary{
		summary("1", map[TypeKey]Count{a: {1, 10}, b: {5, 50}, c: {1, 8}}),
		summary("2", map[TypeKey]Count{a: {2, 20}, b: {5, 50}, c: {9, 72}, d: {1, 1000}}),
		summary("3", map[TypeKey]Count{a: {4, 40}, b: {5, 50}, c: {7, 56}}),
	}
	got := Compare(list, Options{})
	assert.Equal(t, []string{"A!U", "A!T", "!V"}, names(got.Types))
	assert.Equal(t, answer.Change{Counts: []uint64{1, 2, 4}, Sizes: []uint64{10, 20, 40}, CountChange: 3, SizeChange: 30, Growing: true}, got.Types[1].Change)
	assert.Equal(t, []uint64{8, 72, 56}, got.Types[0].Sizes)
	assert.False(t, got.Types[0].Growing)
	assert.Equal(t, int64(78), got.Objects.SizeChange)
	assert.Equal(t, []string{"A!T"}, names(Compare(list, Options{Growing: true}).Types))
	assert.Equal(t, []string{"A!U"}, names(Compare(list, Options{Min: 40}).Types))
	got = Compare(list, Options{Top: 1})
	assert.Equal(t, []string{"A!U"}, names(got.Types))
	assert.Equal(t, 2, got.MoreTypes)
	assert.Empty(t, got.Paths)

	list[1].Nameless, list[1].NoName = Count{3, 30}, target.ErrNotInDump
	list[1].Note(target.ErrNotInDump)
	got = Compare(list[:2], Options{})
	assert.Contains(t, names(got.Types), "!<not in dump>")
	assert.Len(t, got.Noted(), 1)
	assert.False(t, got.Types[0].Growing, "two dumps tell no trend")
}

// TestEach: each dump is summarized once, at most two at a time, which share the goroutines.
func TestEach(t *testing.T) {
	for n := range 6 {
		for _, jobs := range []int{0, 1, 2, 5} {
			var at, most atomic.Int64
			seen := make([]int, n)
			Each(n, jobs, func(i, own int) {
				now := at.Add(1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				seen[i]++
				assert.LessOrEqual(t, own*min(2, max(n, 1)), max(jobs, 2))
				assert.Positive(t, own)
				at.Add(-1)
			})
			for i := range seen {
				assert.Equal(t, 1, seen[i])
			}
			assert.LessOrEqual(t, int(most.Load()), min(2, max(jobs, 1)))
		}
	}
}

// TestComparePaths: nodes are merged by the names on their paths, sums include nodes below, and growth comes first.
func TestComparePaths(t *testing.T) {
	paths := func(list, cache uint64) *Paths {
		return &Paths{nodes: []pathNode{{name: "roots"}, {0, 1, "statics", Count{}, true}, {1, 2, "Cache", Count{1, cache}, true}, {1, 2, "List", Count{1, 10}, true}, {3, 3, "Item", Count{list, 10 * list}, false}}}
	}
	other := paths(9, 7)
	other.nodes = append(other.nodes, pathNode{0, 1, "stacks", Count{1, 5}, true})
	a, b := summary("1", map[TypeKey]Count{{"", "T"}: {3, 27}}), summary("2", map[TypeKey]Count{{"", "T"}: {12, 112}})
	a.Paths, b.Paths = paths(1, 7), other
	got := Compare([]*Summary{a, b}, Options{})
	type row struct {
		depth  int
		name   string
		change int64
	}
	var rows []row
	for _, p := range got.Paths {
		rows = append(rows, row{p.Depth, p.Name, p.SizeChange})
	}
	assert.Equal(t, []row{{0, "statics", 80}, {1, "List", 80}, {2, "Item", 80}, {0, "stacks", 5}}, rows)
	assert.Equal(t, []uint64{1, 9}, got.Paths[2].Counts)
	assert.Equal(t, []uint64{27, 107}, got.Paths[0].Sizes)
	assert.Len(t, Compare([]*Summary{a, b}, Options{Min: 6}).Paths, 3)
	require.Len(t, got.Suspects, 1)
	assert.Equal(t, []string{"statics", "List", "Item"}, got.Suspects[0].Path)
	assert.Equal(t, int64(80), got.Suspects[0].SizeChange)
	assert.InDelta(t, 100*80/85.0, got.Suspects[0].Share, 0.01)
	assert.Empty(t, Compare([]*Summary{b, a}, Options{}).Suspects, "nothing grew")
	b.Paths = nil
	got = Compare([]*Summary{a, b}, Options{})
	assert.Empty(t, got.Paths)
	assert.Empty(t, got.Suspects)
}

// TestGrowthSuspects: if growth is split among roots, each is a suspect. A suspect is as far down as one node has most
// of the growth. Of three dumps, Growing selects only what grew each time.
func TestGrowthSuspects(t *testing.T) {
	paths := func(a, b, c uint64) *Summary {
		s := summary("", nil)
		s.Paths = &Paths{nodes: []pathNode{{name: "roots", source: true}, {0, 1, "statics", Count{}, true}, {1, 2, "A.s", Count{}, true}, {1, 2, "B.s", Count{}, true},
			{2, 3, "List", Count{1, 100}, false}, {4, 4, "X", Count{a, a}, false}, {3, 3, "Map", Count{}, false}, {6, 4, "Y", Count{b, b}, false}, {6, 4, "Z", Count{c, c}, false}}}
		return s
	}
	got := Compare([]*Summary{paths(10, 10, 10), paths(400, 5, 90), paths(510, 260, 260)}, Options{})
	require.Len(t, got.Suspects, 2)
	assert.Equal(t, []string{"statics", "A.s", "List", "X"}, got.Suspects[0].Path)
	assert.Equal(t, []string{"statics", "B.s", "Map"}, got.Suspects[1].Path)
	assert.Equal(t, []uint64{20, 95, 520}, got.Suspects[1].Sizes)
	assert.InDelta(t, 50, got.Suspects[1].Share, 0.01)
	assert.True(t, got.Suspects[0].Growing)
	got = Compare([]*Summary{paths(10, 10, 10), paths(400, 5, 9), paths(510, 260, 260)}, Options{Growing: true})
	require.Len(t, got.Suspects, 1)
	assert.Equal(t, "A.s", got.Suspects[0].Path[1])
}
