package graph_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestRetained: each class counts all objects once. It retains at most all live objects and at least its own. A single
// object of a type retains what the type does.
func TestRetained(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		if g.Objects() == 0 {
			_, err := x.Retained(t.Context(), graph.RetainedOptions{})
			require.ErrorIs(t, err, target.ErrNotInDump, "none is not zero")
			return
		}
		for by := graph.ByType; by <= graph.ByGeneration; by++ {
			for _, garbage := range []bool{false, true} {
				r, err := x.Retained(t.Context(), graph.RetainedOptions{By: by, Garbage: garbage})
				require.NoError(t, err)
				assert.Equal(t, g.Stats().Objects, r.Live.Objects+r.Garbage.Objects+r.Frozen.Objects)
				assert.Equal(t, g.Stats().Bytes, r.Live.Size+r.Garbage.Size+r.Frozen.Size)
				want, all := r.Live.Objects, r.Live.Size
				if garbage {
					want, all = r.Garbage.Objects+r.Frozen.Objects, r.Garbage.Size+r.Frozen.Size
				}
				var count, dead uint64
				for _, row := range r.Rows {
					count += row.Count
					dead += row.Garbage.Objects
					assert.LessOrEqual(t, row.Size, row.Retained, "%v %v", by, row.Name)
					assert.LessOrEqual(t, row.Retained, all, "%v %v", by, row.Name)
				}
				assert.Equal(t, want, count, "%v", by)
				if !garbage {
					assert.Equal(t, r.Garbage.Objects, dead, "%v", by)
				}
				assert.True(t, slices.IsSortedFunc(r.Rows, func(a, b answer.RetainedRow) int { return int(b.Retained) - int(a.Retained) }))
			}
		}
	})
}

// TestRetainedBy: the debuggee's root object retains what its type does, and the types below it add up to that.
func TestRetainedBy(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	x, _ := holders(t, d)
	root := factAt(t, d, "root")
	r, err := x.RetainedBy(t.Context(), []target.Addr{root, 16}, 0)
	require.NoError(t, err)
	require.Len(t, r.Objects, 1)
	require.NotEmpty(t, r.Noted(), "the second is no object")
	o := r.Objects[0]
	var count, size uint64
	for _, row := range o.Types {
		count += row.Count
		size += row.Size
	}
	assert.Equal(t, o.Count, count)
	assert.Equal(t, o.Retained, size)
	types, err := x.Retained(t.Context(), graph.RetainedOptions{})
	require.NoError(t, err)
	i := slices.IndexFunc(types.Rows, func(row answer.RetainedRow) bool { return row.MethodTable == o.Object.MethodTable })
	assert.Equal(t, o.Retained, types.Rows[i].Retained)
	_, err = x.RetainedBy(t.Context(), []target.Addr{16}, 0)
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// TestDominatorTree: the children of a row retain no more than the row, and each row at least the minimum.
func TestDominatorTree(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		x, g := holders(t, d)
		if g.Objects() == 0 {
			_, err := x.DominatorTree(t.Context(), graph.TreeOptions{Percent: 1})
			require.ErrorIs(t, err, target.ErrNotInDump, "none is not zero")
			return
		}
		out, err := x.DominatorTree(t.Context(), graph.TreeOptions{Percent: 0.5, Depth: 8})
		require.NoError(t, err)
		sums := []uint64{out.Live.Size}
		left := []uint64{out.Live.Size}
		for _, row := range out.Tree {
			require.Less(t, row.Depth, 8)
			require.LessOrEqual(t, row.Depth, len(sums)-1)
			assert.GreaterOrEqual(t, row.Retained, out.Least)
			left = left[:row.Depth+1]
			sums = sums[:row.Depth+1]
			require.LessOrEqual(t, row.Retained, left[row.Depth], "more than is left of its parent")
			left[row.Depth] -= row.Retained
			left, sums = append(left, row.Retained), append(sums, row.Retained)
		}
		all, err := x.DominatorTree(t.Context(), graph.TreeOptions{Least: out.Live.Size + 1})
		require.NoError(t, err)
		assert.Empty(t, all.Tree)
	})
}

// TestDominatorsOf: an object held by a static field and by locals has no owner. It owns what only it refers to.
func TestDominatorsOf(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	x, g := holders(t, d)
	root := factAt(t, d, "root")
	out, err := x.DominatorsOf(t.Context(), root, 3)
	require.NoError(t, err)
	own := out.Object
	require.True(t, own.Live)
	assert.Len(t, own.Owns, 3)
	assert.NotEmpty(t, own.Others)
	sum := own.Object.Size
	for _, row := range slices.Concat(own.Owns, own.Others) {
		sum += row.Retained
	}
	assert.Equal(t, own.Retained, sum)
	require.True(t, own.Shared)
	require.GreaterOrEqual(t, len(own.Holders), 2, "nobody owns it, so that there are several ways to it")
	for i := range own.Holders {
		edgesHold(t, g, own.Holders[i].Objects)
		assert.Equal(t, root, own.Holders[i].Objects[len(own.Holders[i].Objects)-1].Address)
	}
	below, err := x.DominatorsOf(t.Context(), own.Owns[0].Object.Address, 3)
	require.NoError(t, err)
	chain := below.Object.Chain
	require.GreaterOrEqual(t, len(chain), 2)
	assert.Equal(t, root, chain[len(chain)-2].Object.Address)
	assert.Empty(t, below.Object.Holders)
}

// TestDominatorChildren: pages of children are all children in order. With its own size they add up to the retained
// size.
func TestDominatorChildren(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	x, _ := holders(t, d)
	root := factAt(t, d, "root")
	whole, err := x.DominatorsOf(t.Context(), root, 1<<20)
	require.NoError(t, err)
	require.Empty(t, whole.Object.Others)
	var paged []answer.DominatorRow
	for more := 1; more > 0; {
		page, err := x.DominatorChildren(t.Context(), graph.ChildOptions{Object: root, From: len(paged), Top: 3})
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Children), 3)
		paged = append(paged, page.Children...)
		assert.Equal(t, len(whole.Object.Owns), len(paged)+page.More)
		more = page.More
	}
	require.Len(t, paged, len(whole.Object.Owns))
	for i, row := range paged {
		below, err := x.DominatorChildren(t.Context(), graph.ChildOptions{Object: row.Object.Address})
		require.NoError(t, err)
		assert.Len(t, below.Children, row.Owns)
		sum := row.Object.Size
		for _, c := range below.Children {
			sum += c.Retained
		}
		assert.Equal(t, row.Retained, sum)
		row.Owns = 0
		assert.Equal(t, whole.Object.Owns[i], row)
	}
	top, err := x.DominatorChildren(t.Context(), graph.ChildOptions{})
	require.NoError(t, err)
	var live uint64
	for _, c := range top.Children {
		live += c.Retained
		require.NotNil(t, c.Object)
	}
	assert.Equal(t, top.Live.Size, live, "what no other object owns retains all that lives")
	past, err := x.DominatorChildren(t.Context(), graph.ChildOptions{From: 1 << 30})
	require.NoError(t, err)
	assert.Empty(t, past.Children)
	assert.Equal(t, len(top.Children), past.From)
	_, err = x.DominatorChildren(t.Context(), graph.ChildOptions{Object: 8})
	require.Error(t, err)
}

// TestLinks: a referrer of an object refers to it by the named field, and the other way round.
func TestLinks(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	x, g := holders(t, d)
	root, dog := factAt(t, d, "root"), factAt(t, d, "root.Dog")
	to, err := x.Referents(t.Context(), root, graph.LinkOptions{})
	require.NoError(t, err)
	i := slices.IndexFunc(to.List, func(l answer.Link) bool { return l.Object != nil && l.Object.Address == dog })
	require.GreaterOrEqual(t, i, 0)
	assert.Equal(t, "Dog", to.List[i].Edge.Name.S)
	assert.Equal(t, answer.LinkStrong, to.List[i].Strength)
	assert.True(t, to.List[i].Live)
	from, err := x.Referrers(t.Context(), dog, graph.LinkOptions{})
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(from.List, func(l answer.Link) bool { return l.Object != nil && l.Object.Address == root && l.Edge.Name.S == "Dog" }))
	assert.True(t, slices.ContainsFunc(from.List, func(l answer.Link) bool { return l.Root != nil && l.Root.Kind == answer.RootStatic }))

	some, err := x.Referents(t.Context(), root, graph.LinkOptions{Limit: 2})
	require.NoError(t, err)
	assert.Len(t, some.List, 2)
	assert.Equal(t, uint64(len(to.List)-2), some.More)
	stat, err := x.Referents(t.Context(), root, graph.LinkOptions{Types: true})
	require.NoError(t, err)
	var count, references uint64
	for _, row := range stat.Types {
		count += row.Count
		references += row.References
	}
	assert.Equal(t, uint64(len(to.List)), count)
	n, _ := g.Node(root)
	assert.Equal(t, uint64(len(g.Referents(n))), references)
	_, err = x.Referrers(t.Context(), 16, graph.LinkOptions{})
	require.ErrorIs(t, err, target.ErrCorrupt)
}

// factAt returns the address of the object of a fact.
func factAt(t *testing.T, d *testdump.Dump, name string) target.Addr {
	t.Helper()
	fact, ok := d.Manifest.Fact(name)
	require.True(t, ok, "%s is no fact", name)
	return address(fact)
}
