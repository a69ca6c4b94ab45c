package graph

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph/internal/tuning"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/inuse"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

// Options controls how a graph is built and queried. The zero value uses all processors.
type Options struct {
	Jobs int // goroutines; 0 means one per processor
	// Progress, if not nil, is called with the state of the work, including later computations. Calls do not overlap.
	Progress func(Progress)
	Keep     *Keep // if not nil, files that keep computed data for the next start
	Census   bool  // take the census of the heap in the same walk
}

// Progress is the state of the work, which may have several phases.
type Progress struct {
	Phase       string // in words
	Done, Total uint64
}

// Build builds the graph of the objects of h and of everything that keeps them alive. A damaged or incomplete heap also
// has a graph. References that lead to no object are counted by Fault and not followed; Stats describes the missing
// parts. Build fails with the error of ctx, and if a limit is exceeded.
//
// All arrays are outside of Go's heap, and count against process.Options.MaxMemory. Work that needs more fails with
// target.ErrLimit; the error has the amount. In bytes, for n objects, m references and b
// bytes of heap, where m is 1.1 to 2.1 n on real heaps:
//
//	index (address to node and back)   b/64 + b/1024; 1.5 n if objects have 88 bytes
//	rows                               4 n + 4 m
//	sizes, types                       6 n; 7 n with more than 65,536 types
//	Live                               n/8
//	Reach                              4 n, and 4 n more while it is computed
//	LiveStarts                         b/64
//	Referrers                          4 n + 4 m
//	Dominators                        16 n, and up to 18 n more while they are computed
//	Dominators.Children                8 n
//
// Options.Keep stores them in files, which the next start maps. Mapped memory does not count. For a heap of 32 GB and
// more, Build needs another m bytes while it runs.
func Build(ctx context.Context, h *heap.Heap, r *Roots, o Options) (*Graph, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	b := newBuilder(ctx, h, r, o)
	if o.Keep == nil {
		return b.buildOrFree()
	}
	k := newKept(b)
	g, err := k.loadRows(b)
	if g != nil || err != nil {
		return g, err
	}
	if g, err = newBuilder(ctx, h, r, o).buildOrFree(); err == nil {
		g.store, k.budget = k, g.budget
		k.saveRows(ctx, g)
	}
	return g, err
}

// newBuilder returns a builder that has the roots and the heap's extent, and no object.
func newBuilder(ctx context.Context, h *heap.Heap, r *Roots, o Options) *builder {
	b := &builder{ctx: ctx, h: h, r: r, o: o, claims: target.ClaimsOf(h.Memory()), budget: budgetOf(ctx), blind: map[*dac.MethodTable]error{},
		x: newIndex(h)}
	b.points, b.field, b.inTable = pointsOf(r)
	b.granules = b.x.granules()
	b.tuned = tuning.Of(ctx)
	b.tuned.DeferFrom, b.tuned.Piece = cmp.Or(b.tuned.DeferFrom, deferSize), cmp.Or(b.tuned.Piece, pieceSize)
	b.wide = b.tuned.Wide || b.granules+uint64(len(b.inTable)) >= uint64(digraph.None)
	return b
}

// budgetOf returns the budget of ctx, or a new one with the host's limit.
func budgetOf(ctx context.Context) *offheap.Budget {
	if b := offheap.BudgetOf(ctx); b != nil {
		return b
	}
	return offheap.NewBudget(0)
}

// buildOrFree builds the graph. If that fails, it frees all memory.
func (b *builder) buildOrFree() (*Graph, error) {
	g, err := b.build()
	if err != nil {
		b.free()
	}
	return g, err
}

func (b *builder) free() {
	b.arrays.free()
	b.x.free()
}

// arrays holds a graph's nodes and edges.
type arrays struct {
	offsets *offheap.Array[uint32] // start of each node's row in targets, and the end of the last row
	targets *offheap.Array[uint32] // while the heap is read: granules, then static fields
	high    *offheap.Array[uint8]  // while the heap is read: bits 32 to 39 of targets, for heaps of 32 GB and more
	sizes   *offheap.Array[uint32]
	types   *offheap.Array[uint16] // bits 0 to 15 of the index in types
	rare    *offheap.Array[uint8]  // bits 16 to 23, if there are so many types
}

func (a *arrays) free() {
	a.offsets.Free()
	a.targets.Free()
	a.high.Free()
	a.sizes.Free()
	a.types.Free()
	a.rare.Free()
}

type builder struct {
	ctx    context.Context
	h      *heap.Heap
	r      *Roots
	o      Options
	claims *target.Claims
	budget *offheap.Budget

	x        *index
	tuned    tuning.Bounds
	granules uint64
	wide     bool // granules need more than 32 bits
	points   []point
	inTable  []int // the Sources in tables; field k has granule granules+k
	field    []int // by Source: its index in inTable, or -1

	arrays    arrays
	objects   uint64
	edges     uint64
	byNumber  []uint32 // index of the type + 1, by the heap's number
	types     []*dac.MethodTable
	huge      map[Node]uint64
	deferred  []deferral // deferred pieces, in the order of objects after merging
	blind     map[*dac.MethodTable]error
	slots     []target.Addr // as in Graph
	refs      []uint32
	slotsFrom uint32
	pairs     []Dependent
	stats     Stats
	faults    [faults]atomic.Uint64
	lost      lostReferences
}

func (b *builder) build() (*Graph, error) {
	if err := b.prepare(); err != nil {
		return nil, err
	}
	if err := b.scan(); err != nil {
		return nil, err
	}
	var err error
	if b.objects, err = b.x.count(b.ctx); err != nil {
		return nil, err
	}
	for _, step := range []func() error{b.fill, b.number, b.compact, b.addRoots} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	g := b.graph()
	if err := g.judge(b.ctx, &b.lost); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// prepare reserves addresses for the maximum number of objects and edges. Memory is committed as they are found.
func (b *builder) prepare() error {
	err := b.x.make(b.budget)
	// The 40 bits of a wide target can address 8 TB.
	if err == nil && b.granules+uint64(len(b.inTable)) >= 1<<40 {
		return target.Limitf("a heap of %d GB", b.granules>>27)
	}
	objects, edges := uint64(0), uint64(len(b.r.Dependents)+len(b.r.Edges)+2*len(b.r.Sources)+1)
	for _, r := range b.h.Stored() {
		objects += r.Size()/minObjectSize + 1
		edges += r.Size()/slotSize + 1
	}
	edges += objects // LoaderAllocators
	nodes := min(objects+uint64(len(b.r.Sources))+1, digraph.MaxNodes)
	edges = min(edges, digraph.MaxEdges)
	reserve(&err, b.budget, &b.arrays.offsets, nodes+1)
	reserve(&err, b.budget, &b.arrays.sizes, nodes)
	reserve(&err, b.budget, &b.arrays.types, nodes)
	reserve(&err, b.budget, &b.arrays.rare, nodes)
	reserve(&err, b.budget, &b.arrays.targets, edges)
	if b.wide {
		reserve(&err, b.budget, &b.arrays.high, edges)
	}
	if err == nil {
		err = b.arrays.offsets.Grow(1)
	}
	return err
}

const (
	minObjectSize = 24
	slotSize      = 8
)

func reserve[T any](err *error, b *offheap.Budget, a **offheap.Array[T], n uint64) {
	if *err == nil {
		*a, *err = offheap.Reserve[T](b, int(n))
	}
}

// A point is an address in an object with a row that differs from its memory: a static field in a table, or the primary
// object of a dependent handle.
type point struct {
	at        target.Addr
	source    int // the static field, or -1 for a dependent handle
	secondary target.Addr
}

// pointsOf returns the points by address, the static fields in tables, and the index there of each Source.
func pointsOf(r *Roots) (points []point, field, inTable []int) {
	field = make([]int, len(r.Sources))
	for i := range r.Sources {
		s := &r.Sources[i]
		field[i] = -1
		if s.Kind == SourceField && s.Slot != 0 {
			points = append(points, point{at: s.Slot, source: i})
			if s.Parent == InTable {
				field[i] = len(inTable)
				inTable = append(inTable, i)
			}
		}
	}
	for i := range r.Dependents {
		d := &r.Dependents[i]
		points = append(points, point{at: d.Primary, source: -1, secondary: d.Secondary})
	}
	slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	return points, field, inTable
}

// scan reads the heap once. If the memory limit is too low, it stops with an estimate from the objects so far.
func (b *builder) scan() error {
	read, all := uint64(0), uint64(1)
	o := heap.ScanOptions{Jobs: b.o.Jobs, Progress: func(done, total uint64) {
		read, all = done, total
		if b.o.Progress != nil {
			b.o.Progress(Progress{Phase: "objects", Done: done, Total: total})
		}
	}}
	scan := heap.ScanWithCensus[*collector]
	if !b.o.Census {
		scan = func(ctx context.Context, h *heap.Heap, o heap.ScanOptions, create func() *collector, merge func(*collector) error) error {
			return heap.Scan(ctx, h, nil, o, create, merge)
		}
	}
	err := scan(b.ctx, b.h, o, func() *collector { return newCollector(b) }, b.merge)
	var limit *offheap.LimitError
	if errors.As(err, &limit) {
		need := limit.InUse + limit.Need
		if read > 0 {
			need = max(need, int64(float64(need)/float64(read)*float64(all)))
		}
		return &offheap.LimitError{What: "the graph of this heap", Need: need, Limit: limit.Limit}
	}
	return err
}

// merge appends the results of a run.
func (b *builder) merge(c *collector) error {
	for _, w := range c.bits {
		b.x.words[w.index] |= w.bits
	}
	a := &b.arrays
	base, edges := int(b.objects), int(b.edges)
	n, m := base+len(c.sizes), b.edges+c.n
	if err := digraph.CheckSize(uint64(n)+uint64(len(b.r.Sources))+1, m); err != nil {
		return err
	}
	if err := cmp.Or(a.sizes.Grow(n), a.types.Grow(n), a.offsets.Grow(n+1), a.targets.Grow(int(m))); err != nil {
		return err
	}
	copy(a.sizes.Slice()[base:], c.sizes)
	types, offsets := a.types.Slice()[base:], a.offsets.Slice()[base+1:]
	for i, number := range c.types {
		types[i] = uint16(b.typeIndex(number))
		offsets[i] = uint32(edges) + c.ends[i]
	}
	if err := b.rareTypes(base, c.types); err != nil {
		return err
	}
	if b.wide {
		if err := a.high.Grow(int(m)); err != nil {
			return err
		}
	}
	at, from := edges, 0
	for i := range c.deferred {
		d := c.deferred[i]
		at += b.keep(c, at, from, d.behind)
		from = d.behind
		d.behind = at // from here on, its place in targets
		b.deferred = append(b.deferred, d)
		at += int(d.n)
	}
	b.keep(c, at, from, len(c.refs))
	for _, h := range c.huge {
		if b.huge == nil {
			b.huge = map[Node]uint64{}
		}
		b.huge[Node(base+h.ordinal)] = h.size
	}
	b.objects, b.edges = uint64(n), m
	b.note(c)
	return nil
}

// keep copies references of a run to their place and returns their number.
func (b *builder) keep(c *collector, at, from, to int) int {
	copy(b.arrays.targets.Slice()[at:], c.refs[from:to])
	if b.wide {
		copy(b.arrays.high.Slice()[at:], c.high[from:to])
	}
	return to - from
}

// typeIndex returns the index of a type, given its number in the heap.
func (b *builder) typeIndex(number uint32) uint32 {
	if int(number) < len(b.byNumber) && b.byNumber[number] != 0 {
		return b.byNumber[number] - 1
	}
	if n := int(number) + 1 - len(b.byNumber); n > 0 {
		b.byNumber = append(b.byNumber, make([]uint32, n)...)
	}
	b.types = append(b.types, b.h.TypeByNumber(number))
	b.byNumber[number] = uint32(len(b.types))
	return uint32(len(b.types) - 1)
}

// rareTypes stores the upper bits of objects' types if there are more than 65,536 types.
func (b *builder) rareTypes(base int, numbers []uint32) error {
	if len(b.types) <= 1<<16 {
		return nil
	}
	if len(b.types) > limits.HeapTypes {
		return target.CorruptHeapf("the heap has objects of more than %d types", limits.HeapTypes)
	}
	if err := b.arrays.rare.Grow(base + len(numbers)); err != nil {
		return err
	}
	for i, number := range numbers {
		b.arrays.rare.Slice()[base+i] = uint8((b.byNumber[number] - 1) >> 16)
	}
	return nil
}

// note adds the counts of a run to Stats.
func (b *builder) note(c *collector) {
	s := &b.stats
	s.Bytes += c.stats.Bytes
	s.Free += c.stats.Free
	s.FreeBytes += c.stats.FreeBytes
	s.MissingSlots += c.stats.MissingSlots
	s.BlindObjects += c.stats.BlindObjects
	s.Corrupt += len(c.corrupt)
	s.Corruptions = append(s.Corruptions, c.corrupt[:min(len(c.corrupt), heap.MaxCorruptions-len(s.Corruptions))]...)
	for f := range c.stats.Faults {
		b.faults[f].Add(c.stats.Faults[f])
	}
	for _, e := range c.blind {
		if _, ok := b.blind[e.mt]; !ok {
			b.blind[e.mt] = e.err
			list := &s.BlindTypes
			if e.keeper {
				list = &s.Keepers
			}
			if len(*list) < maxErrors {
				*list = append(*list, e.err)
			}
		}
	}
}

func (b *builder) graph() *Graph {
	a := &b.arrays
	a.high.Free()
	a.offsets.Shrink(len(a.offsets.Slice()))
	a.targets.Shrink(int(b.edges))
	a.sizes.Shrink(len(a.sizes.Slice()))
	a.types.Shrink(len(a.types.Slice()))
	a.rare.Shrink(len(a.rare.Slice()))
	g := &Graph{h: b.h, budget: b.budget, index: b.x, objects: int(b.objects), arrays: *a, size: a.sizes.Slice(), typ: a.types.Slice(), rare: a.rare.Slice(),
		huge: b.huge, types: b.types, sources: b.r.Sources}
	g.users = inuse.New(errClosed)
	g.rows = digraph.Graph{Offsets: a.offsets.Slice(), Targets: a.targets.Slice()[:b.edges]}
	g.takeRoots(b)
	g.stats = b.stats
	g.stats.Objects, g.stats.Edges = b.objects, uint64(g.rows.Edges())
	for f := range g.stats.Faults {
		g.stats.Faults[f] = b.faults[f].Load()
	}
	g.stats.Lost, g.stats.Roots = b.h.Lost(), b.r.Errors
	g.lazy.options = digraph.Options{Workers: b.o.Jobs, Budget: b.budget, Progress: phases(b.o.Progress)}
	return g
}

func phases(to func(Progress)) func(digraph.Progress) {
	if to == nil {
		return nil
	}
	return func(p digraph.Progress) { to(Progress(p)) }
}

// search returns the first point at or after a.
func search(points []point, a target.Addr) int {
	return sort.Search(len(points), func(i int) bool { return points[i].at >= a })
}
