package graph_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/graph/internal/tuning"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// print returns a digest of everything in a graph.
func print(t testing.TB, g *graph.Graph) string {
	t.Helper()
	reach, err := g.Reach(t.Context())
	require.NoError(t, err)
	dom, err := g.Dominators(t.Context())
	require.NoError(t, err)
	h := fnv.New64a()
	var b []byte
	for n := range graph.Node(g.Nodes()) {
		typ := target.Addr(0)
		if mt := g.Type(n); mt != nil {
			typ = mt.Addr
		}
		b = b[:0]
		for _, v := range []uint64{uint64(g.Address(n)), g.Size(n), uint64(typ), uint64(reach.Parent(n)), uint64(dom.Idom(n)), dom.Retained(n)} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		for _, to := range g.Referents(n) {
			b = binary.LittleEndian.AppendUint32(b, to)
		}
		h.Write(binary.LittleEndian.AppendUint32(b, ^uint32(0)))
	}
	s := g.Stats()
	return fmt.Sprintln(h.Sum64(), s.Objects, s.Bytes, s.Edges, s.Faults, s.RootFaults, s.MissingSlots, s.BlindObjects, s.Corrupt, s.Warnings())
}

// TestSame: the graph depends neither on the number of workers, nor on which objects are read late, nor on the width of
// numbers during the build.
func TestSame(t *testing.T) {
	for _, name := range []string{"net10-zoo", "net31-zoo", "net10-crash-nested", "win-net10-zoo"} {
		d := testdump.Open(t, name)
		plain, _ := built(t, d, graph.Options{})
		want := print(t, plain)
		for _, w := range []way{
			jobs(1), jobs(2), jobs(3), jobs(8),
			{Bounds: tuning.Bounds{DeferFrom: 1, Piece: 8}}, {graph.Options{Jobs: 8}, tuning.Bounds{DeferFrom: 100, Piece: 24}},
			{graph.Options{Jobs: 2}, tuning.Bounds{DeferFrom: 64, Piece: 4096, Wide: true}}, {Bounds: tuning.Bounds{Wide: true}},
		} {
			g, _ := builtTuned(t, d, w)
			require.Equal(t, want, print(t, g), "%+v", w)
		}
	}
}

// TestSameOfCorpus is TestSame for a heap with many runs.
func TestSameOfCorpus(t *testing.T) {
	testdump.Corpus(t, func(c *testcase.Case) bool { return strings.HasPrefix(c.Name, "web-net10") }, func(t *testing.T, d *testdump.Dump) int {
		var want string
		for _, jobs := range []int{1, 2, 3, 8} {
			g, _ := built(t, d, graph.Options{Jobs: jobs})
			got := print(t, g)
			if want == "" {
				want = got
			}
			require.Equal(t, want, got)
		}
		return 1
	})
}

// damaged returns up to six words that overwrite parts of objects, with the addresses of objects, of their middle, of
// free blocks or of other memory. They overwrite type pointers, lengths and references alike.
func damaged(d *testdump.Dump, h *heap.Heap, r *rand.Rand) []testdump.Damage {
	return pick(h).damaged(d.Target(), r)
}

// A picks has the objects of a heap from which damage is made.
type picks struct{ objects, frees []heap.Object }

func pick(h *heap.Heap) *picks {
	p := &picks{}
	for o, err := range h.Objects() {
		switch {
		case err != nil:
		case o.Free:
			p.frees = append(p.frees, o)
		default:
			p.objects = append(p.objects, o)
		}
	}
	return p
}

func (p *picks) damaged(in target.Target, r *rand.Rand) []testdump.Damage {
	any := func(list []heap.Object) heap.Object { return list[r.IntN(len(list))] }
	var list []testdump.Damage
	for range 1 + r.IntN(6) {
		o := any(p.objects)
		at := o.Addr + target.Addr(r.Uint64N(o.Size)&^7)
		v := uint64(any(p.objects).Addr)
		switch r.IntN(7) {
		case 0:
			v += 8
		case 1:
			v = 0x4141414141414141
		case 2:
			if len(p.frees) > 0 {
				v = uint64(any(p.frees).Addr)
			}
		case 3:
			v = uint64(any(p.objects).Type.Addr)
		case 4:
			v = r.Uint64()
		case 5:
			v += 3
		}
		if _, ok := in.View(at, 8); ok { // a slice does not have all parts of objects
			list = append(list, testdump.Words(at, v))
		}
	}
	return list
}

// TestDamagedHeaps: a damaged heap has a graph, the same for every number of workers. All its edges lead to objects,
// and it reports damaged references.
func TestDamagedHeaps(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo", "net10-zoo-noregions", "net31-zoo", "net10-zoo-servergc"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := testdump.Open(t, name)
			sound, err := d.Heap()
			require.NoError(t, err)
			for seed := range uint64(6) {
				testDamage(t, d.Damaged(t, damaged(d, sound, rand.New(rand.NewPCG(seed, 11)))...), seed)
			}
		})
	}
}

func testDamage(t testing.TB, d *sosgo.Dump, seed uint64) {
	v, err := d.View("")
	require.NoError(t, err)
	h, err := v.Heap()
	require.NoError(t, err)
	reader, err := v.RootReader()
	require.NoError(t, err)
	r, err := graph.RootsOf(t.Context(), h, reader)
	require.NoError(t, err)
	testBuilds(t, h, r, seed, jobs(1), narrow, jobs(8))
}

// narrow reads and numbers a small heap like a large one.
var narrow = way{graph.Options{Jobs: 2}, tuning.Bounds{DeferFrom: 64, Piece: 64, Wide: true}}

func jobs(n int) way { return way{Options: graph.Options{Jobs: n}} }

// testBuilds builds the graph of a heap in several ways, which must give the same.
func testBuilds(t testing.TB, h *heap.Heap, r *graph.Roots, seed uint64, ways ...way) {
	var one string
	for _, w := range ways {
		g := w.build(t, h, r)
		got := print(t, g)
		if one == "" {
			one = got
		}
		require.Equal(t, one, got, "seed %d", seed)
		edges := uint64(0)
		for n := range graph.Node(g.Nodes()) {
			for _, to := range g.Referents(n) {
				if to >= g.Root() { // require would take longer than all the rest of a small graph
					require.Less(t, to, g.Root())
				}
				edges++
			}
		}
		require.Equal(t, edges, g.Stats().Edges)
		g.Close()
	}
}

// TestFaults: each kind of reference that leads to no object is counted as its kind.
func TestFaults(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	h, err := d.Heap()
	require.NoError(t, err)
	sound, _ := built(t, d, graph.Options{})
	var holder heap.Object
	var slot target.Addr
	var free heap.Object
	edges := h.Edges(heap.EdgeOptions{})
	for o, err := range h.Objects() {
		if err == nil && o.Free {
			free = o
		}
		if err != nil || o.Free || holder.Type != nil {
			continue
		}
		for ref, err := range edges.Of(&o) {
			if err == nil && ref.Slot != 0 {
				if n, _ := sound.Node(o.Addr); len(sound.Referents(n)) == 1 {
					holder, slot = o, ref.Slot
				}
			}
		}
	}
	require.NotNil(t, holder.Type)
	require.NotNil(t, free.Type)
	for _, c := range []struct {
		to    target.Addr
		fault graph.Fault
	}{
		{holder.Addr + 8, graph.FaultInside}, {holder.Addr + 4, graph.FaultInside}, {free.Addr, graph.FaultFree}, {free.Addr + 8, graph.FaultFree},
		{holder.Type.Addr, graph.FaultNowhere}, {0x18, graph.FaultNowhere}, {0x4141414141414141, graph.FaultNowhere},
	} {
		dump := d.Damaged(t, testdump.Words(slot, uint64(c.to)))
		v, err := dump.View("")
		require.NoError(t, err)
		g, err := v.Graph(t.Context(), graph.Options{})
		require.NoError(t, err)
		s := g.Stats()
		require.EqualValues(t, 1, s.Faults[c.fault]-sound.Stats().Faults[c.fault], "%#x: %v", uint64(c.to), s.Faults)
		n, ok := g.Node(holder.Addr)
		require.True(t, ok)
		require.Empty(t, g.Referents(n))
		require.False(t, s.Complete())
		require.NotEmpty(t, s.Warnings())
	}
}

// TestCancel: building and queries end soon after their context is done.
func TestCancel(t *testing.T) {
	const soon = 50 * time.Millisecond
	d := testdump.Open(t, "net10-zoo")
	g, r := built(t, d, graph.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, f := range map[string]func() error{
		"build":      func() error { _, err := graph.Build(ctx, g.Heap(), r, graph.Options{}); return err },
		"reach":      func() error { _, err := g.Reach(ctx); return err },
		"referrers":  func() error { _, err := g.Referrers(ctx); return err },
		"dominators": func() error { _, err := g.Dominators(ctx); return err },
		"paths": func() error {
			for _, err := range g.Paths(ctx, 0, graph.PathOptions{}) {
				return err
			}
			return nil
		},
	} {
		testcase.Soon(t, soon, func() { require.ErrorIs(t, f(), context.Canceled, name) })
	}
	_, err := g.Reach(t.Context())
	require.NoError(t, err, "who asks next gets an answer")
}

// TestMemory: work that needs more memory than the limit fails with the amount. A closed graph holds no memory.
func TestMemory(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	g, r := built(t, d, graph.Options{})
	_, err := g.Dominators(t.Context())
	require.NoError(t, err)
	_, err = g.Referrers(t.Context())
	require.NoError(t, err)
	now, peak := g.Memory()
	require.NotZero(t, now)
	require.GreaterOrEqual(t, peak, now)
	for limit := int64(1); limit < peak; limit += peak/16 + 1 {
		small, err := graph.Build(offheap.WithBudget(t.Context(), offheap.NewBudget(limit)), g.Heap(), r, graph.Options{})
		if err == nil {
			if _, err = small.Dominators(t.Context()); err == nil {
				_, err = small.Referrers(t.Context())
			}
			defer func() {
				small.Close()
				now, _ := small.Memory()
				require.Zero(t, now)
			}()
		}
		if err != nil {
			require.ErrorIs(t, err, target.ErrLimit)
			require.Contains(t, err.Error(), "more than the limit")
		}
	}
	g.Close()
	now, _ = g.Memory()
	require.Zero(t, now)
}
