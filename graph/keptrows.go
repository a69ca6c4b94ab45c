package graph

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/arrayfile"
	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

// Indexes in the section "facts" of the rows.
const (
	factObjects = iota
	factBytes
	factFree
	factFreeBytes
	factMissing
	factSlots // the first edge of a Source
	factFaults
	factRootFaults = factFaults + int(faults)
	factGarbage    = factRootFaults + int(faults)
	factCount      = factGarbage + int(faults)
)

// saveRows writes the result of Build.
func (k *kept) saveRows(ctx context.Context, g *Graph) {
	s := &g.stats
	if s.Corrupt > 0 || s.BlindObjects > 0 || len(s.Keepers) > 0 {
		k.off = true
		k.note("the graph of the heap's objects is not kept: the heap is incomplete")
		return
	}
	facts := make([]uint64, factCount)
	facts[factObjects], facts[factBytes], facts[factFree], facts[factFreeBytes] = s.Objects, s.Bytes, s.Free, s.FreeBytes
	facts[factMissing], facts[factSlots] = s.MissingSlots, uint64(g.slotsFrom)
	copy(facts[factFaults:], s.Faults[:])
	copy(facts[factRootFaults:], s.RootFaults[:])
	copy(facts[factGarbage:], s.Garbage[:])
	types := make([]target.Addr, len(g.types))
	for i, mt := range g.types {
		types[i] = mt.Addr
	}
	large := make([]Node, 0, len(g.huge))
	for n := range g.huge {
		large = append(large, n)
	}
	slices.Sort(large)
	sizes := make([]uint64, len(large))
	for i, n := range large {
		sizes[i] = g.huge[n]
	}
	k.save(ctx, keptRows, array("facts", facts), array("starts", g.index.words), array("offsets", g.rows.Offsets), array("targets", g.rows.Targets),
		array("sizes", g.size), array("type of object", g.typ), array("high bits of type", g.rare), array("types", types),
		array("large objects", large), array("sizes of these", sizes), array("slots of roots", g.slots), array("roots of slots", g.refs))
}

// loadRows returns the stored graph, or nil. b has not read any object yet. It fails only with the error of ctx.
func (k *kept) loadRows(b *builder) (*Graph, error) {
	ok, err := k.load(b.ctx, keptRows, b.take)
	if !ok {
		b.free()
		return nil, err
	}
	g := b.graph()
	g.store = k
	return g, nil
}

// take takes the arrays of a graph from a file. It checks that they match each other and the heap.
func (b *builder) take(f *arrayfile.File) error {
	t := &taker{f: f}
	facts := take[uint64](t, "facts", factCount)
	words := take[uint64](t, "starts", b.x.size())
	if t.err != nil {
		return t.err
	}
	if err := b.x.take(b.budget, offheap.Lent(words)); err != nil {
		return err
	}
	var err error
	if b.objects, err = b.x.count(b.ctx); err != nil {
		return err
	}
	if b.objects != facts[factObjects] {
		return target.Corruptf("%d starts for %d objects", b.objects, facts[factObjects])
	}
	objects := int(b.objects)
	nodes := objects + len(b.r.Sources) + 1
	offsets, targets := take[uint32](t, "offsets", nodes+1), take[uint32](t, "targets", -1)
	sizes := take[uint32](t, "sizes", nodes)
	types, rare := take[uint16](t, "type of object", objects), take[uint8](t, "high bits of type", -1)
	known := take[target.Addr](t, "types", -1)
	large := take[Node](t, "large objects", -1)
	huge := take[uint64](t, "sizes of these", len(large))
	b.slots = take[target.Addr](t, "slots of roots", max(0, len(targets)-int(min(facts[factSlots], 1<<32))))
	b.refs = take[uint32](t, "roots of slots", len(b.slots))
	if t.err != nil {
		return t.err
	}
	rows := digraph.Graph{Offsets: offsets, Targets: targets}
	if err := rows.Check(b.ctx, digraph.Options{Workers: b.o.Jobs}); err != nil {
		return err
	}
	if len(rare) != 0 && len(rare) != objects || facts[factSlots] != uint64(offsets[objects]) {
		return target.Corruptf("the arrays don't fit together")
	}
	b.slotsFrom, b.edges = offsets[objects], uint64(len(targets))
	b.arrays = arrays{offsets: offheap.Lent(offsets), targets: offheap.Lent(targets), sizes: offheap.Lent(sizes), types: offheap.Lent(types), rare: offheap.Lent(rare)}
	b.huge = make(map[Node]uint64, len(large))
	for i, n := range large {
		b.huge[n] = huge[i]
	}
	if err := b.takeTypes(known); err != nil {
		return err
	}
	b.checkDependents()
	b.stats = Stats{Bytes: facts[factBytes], Free: facts[factFree], FreeBytes: facts[factFreeBytes], MissingSlots: facts[factMissing]}
	copy(b.stats.RootFaults[:], facts[factRootFaults:])
	copy(b.stats.Garbage[:], facts[factGarbage:])
	for i := range b.faults {
		b.faults[i].Store(facts[factFaults+i])
	}
	return b.checkFit(rows)
}

// takeTypes finds types by their addresses.
func (b *builder) takeTypes(known []target.Addr) error {
	b.types = make([]*dac.MethodTable, len(known))
	for i, a := range known {
		mt, err := b.h.TypeAt(a)
		if err != nil {
			return target.Corruptf("type %d: %v", i, err)
		}
		b.types[i] = mt
	}
	return nil
}

// checkFit compares the arrays with each other and with the heap: all sizes and types, and the references of sample
// objects.
func (b *builder) checkFit(rows digraph.Graph) error {
	sizes, types, rare := b.arrays.sizes.Slice(), b.arrays.types.Slice(), b.arrays.rare.Slice()
	var bytes, bad atomic.Uint64
	none := func() struct{} { return struct{}{} }
	err := parallel(b.ctx, b.o.Jobs, int(b.objects), numberPiece, none, func(_ struct{}, from, to int) {
		sum, most := uint64(0), 0
		for n := from; n < to; n++ {
			size, t := uint64(sizes[n]), int(types[n])
			if size == hugeSize {
				size = b.huge[Node(n)]
			}
			if len(rare) > 0 {
				t |= int(rare[n]) << 16
			}
			sum += size
			most = max(most, t)
		}
		bytes.Add(sum)
		if most >= len(b.types) {
			bad.Add(1)
		}
	})
	if err != nil {
		return err
	}
	if bad.Load() != 0 || bytes.Load() != b.stats.Bytes {
		return target.Corruptf("the types or sizes of objects are invalid")
	}
	for _, s := range rows.Row(uint32(rows.Nodes() - 1)) {
		if uint64(s) < b.objects {
			return target.Corruptf("object %d depends on no Source", s)
		}
	}
	return b.sample(rows)
}

// keptSamples is the number of objects that are compared with the heap.
const keptSamples = 512

// sample compares keptSamples objects with the heap.
func (b *builder) sample(rows digraph.Graph) error {
	c := newCollector(b)
	for i := range min(b.objects, keptSamples) {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		n := Node(b.objects * i / min(b.objects, keptSamples))
		a := b.x.address(b.x.granuleOf(n))
		o, err := b.h.ObjectAt(a)
		if err != nil || o.Free || !b.matches(n, &o) {
			return target.Corruptf("object %#x of the heap differs", uint64(a))
		}
		if o.Size >= b.tuned.DeferFrom {
			continue // it would read all of the object
		}
		c.Reset()
		c.at = search(b.points, a)
		c.add(&o)
		c.settle()
		if !slices.Equal(b.nodesOf(c), rows.Row(n)) {
			return target.Corruptf("references of object %#x of the heap differ", uint64(a))
		}
	}
	return nil
}

// matches reports whether an object has the size and type of a node.
func (b *builder) matches(n Node, o *heap.Object) bool {
	size, t := uint64(b.arrays.sizes.Slice()[n]), int(b.arrays.types.Slice()[n])
	if size == hugeSize {
		size = b.huge[n]
	}
	if rare := b.arrays.rare.Slice(); len(rare) > 0 {
		t |= int(rare[n]) << 16
	}
	return o.Size == size && o.Type.Addr == b.types[t].Addr
}

// nodesOf returns the nodes that a collector's references lead to.
func (b *builder) nodesOf(c *collector) []Node {
	var row []Node
	for i, t := range c.refs {
		g := uint64(t)
		if b.wide {
			g |= uint64(c.high[i]) << 32
		}
		if g >= b.granules {
			row = append(row, Node(b.objects)+Node(b.inTable[g-b.granules]))
		} else if n, ok := b.x.rank(g); ok {
			row = append(row, n)
		}
	}
	return row
}

// loadLive returns the stored live objects, or nil.
func (k *kept) loadLive(ctx context.Context, g *Graph) (l *Liveness, err error) {
	ok, err := k.load(ctx, keptLive, func(f *arrayfile.File) (err error) {
		t := &taker{f: f}
		words := take[uint64](t, "live", (g.Nodes()+63)/64)
		if t.err != nil {
			return t.err
		}
		if l, err = g.newLive(ctx, offheap.Lent(words)); err == nil && !l.Live(g.Root()) {
			err = target.Corruptf("the root is not live")
		}
		return err
	})
	if !ok {
		return nil, err
	}
	return l, nil
}

// loadReferrers returns the stored reversed graph, or nil.
func (k *kept) loadReferrers(ctx context.Context, g *Graph) (r *Referrers, err error) {
	ok, err := k.load(ctx, keptReferrers, func(f *arrayfile.File) error {
		t := &taker{f: f}
		rows := &digraph.Graph{Offsets: take[uint32](t, "offsets", g.Nodes()+1), Targets: take[uint32](t, "targets", g.Edges())}
		if t.err != nil {
			return t.err
		}
		r = &Referrers{rows}
		return rows.Check(ctx, g.lazy.options)
	})
	if !ok {
		return nil, err
	}
	return r, nil
}

// loadDominators returns the stored dominator tree, or nil.
func (k *kept) loadDominators(ctx context.Context, g *Graph) (d *Dominators, err error) {
	ok, err := k.load(ctx, keptDominators, func(f *arrayfile.File) error {
		t, n := &taker{f: f}, g.Nodes()
		tree := &digraph.Dominators{Idom: take[uint32](t, "dominators", n+1)}
		sums := &digraph.Sums{Low: take[uint32](t, "retained", n+1), High: take[uint16](t, "high bits of retained", -1)}
		if t.err != nil {
			return t.err
		}
		switch len(sums.High) {
		case 0:
			sums.High = nil
		case n + 1:
		default:
			return target.Corruptf("the arrays don't fit together")
		}
		d = &Dominators{g: g, tree: tree, retained: sums}
		return d.check(ctx)
	})
	if !ok {
		return nil, err
	}
	return d, nil
}

func (d *Dominators) save(ctx context.Context, k *kept) {
	k.save(ctx, keptDominators, array("dominators", d.tree.Idom), array("retained", d.retained.Low), array("high bits of retained", d.retained.High))
}

// check proves that the stored data is a tree of all nodes: every way up ends at the root. A dominator's retained size
// includes its children's, and its own if it is an object. Sources have no size and are few.
func (d *Dominators) check(ctx context.Context) error {
	nodes, objects := uint32(d.g.Nodes()), uint32(d.g.objects)
	idom, retained := d.tree.Idom, d.retained.At
	var bad atomic.Bool
	none := func() struct{} { return struct{}{} }
	err := parallel(ctx, d.g.lazy.options.Workers, len(idom), numberPiece, none, func(_ struct{}, from, to int) {
		for u := uint32(from); u < uint32(to); u++ {
			wrong, p := false, idom[u]
			switch {
			case u == nodes:
				wrong = p != nodes && p != digraph.None // there is no garbage
			case u == nodes-1:
				wrong = p != u
			default:
				wrong = p > nodes || p == u || p == nodes && idom[nodes] != nodes || retained(p) < retained(u) ||
					p < objects && retained(p) == retained(u)
			}
			if wrong {
				bad.Store(true)
				return
			}
		}
	})
	if err == nil && (bad.Load() || !d.reachesRoots(objects, nodes)) {
		err = target.Corruptf("the dominator tree is not a tree")
	}
	return err
}

// reachesRoots reports whether the way up from each Source reaches an object or a root.
func (d *Dominators) reachesRoots(objects, nodes uint32) bool {
	seen := make([]uint32, nodes+1-objects) // 1 + the Source with a way through here
	for s := objects; s < nodes; s++ {
		for u := s; u >= objects && d.tree.Idom[u] != u && seen[u-objects] == 0; u = d.tree.Idom[u] {
			seen[u-objects] = s + 1
			if next := d.tree.Idom[u]; next >= objects && seen[next-objects] == s+1 {
				return false
			}
		}
	}
	return true
}
