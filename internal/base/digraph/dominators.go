package digraph

import (
	"context"
	"unsafe"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// Dominators is the dominator tree of the nodes that a root reaches, and a second tree of the nodes
// that only the entries reach ([Graph.Dominators]). A node is dominated by the nodes on all paths
// to it; its immediate dominator is the last of them.
type Dominators struct {
	// Idom holds the immediate dominator of each node: None for an unreached node, the root itself
	// for the root. Element n (the number of nodes) is the pseudo root of the entries: its own
	// dominator, or None without entries. So Idom has n+1 elements.
	Idom []uint32

	// Order holds the nodes of both trees in depth-first order: each node precedes those that it
	// dominates. The root's tree is Order[:Live]; then come the pseudo root, if there is one, and
	// its tree.
	Order []uint32

	Live int // number of nodes that the root reaches, itself included

	// Reached is a bitmap of the nodes that the root reaches, as in Reach.Bits. Only
	// DominatorsOfAll sets it.
	Reached []uint64

	idom, order *offheap.Array[uint32]
	reached     bitmap
}

// Free releases the arrays.
func (d *Dominators) Free() {
	if d != nil {
		freeAll(d.idom, d.order)
		d.reached.Free()
		d.Idom, d.Order, d.Reached = nil, nil, nil
	}
}

// FreeOrder releases Order. Only Retained needs it.
func (d *Dominators) FreeOrder() {
	d.order.Free()
	d.Order = nil
}

// FreeReached releases Reached.
func (d *Dominators) FreeReached() {
	d.reached.Free()
	d.Reached = nil
}

// Dominators finds the exact dominators of all nodes that root reaches. entries, which may be
// empty, are entry points to the rest of the graph (Graph.Entries). The nodes reached from them
// form a second tree under a pseudo root, number n, with an edge to each entry. Edges from there to
// nodes that root reaches are ignored: garbage owns nothing that is alive.
//
// In addition to the graph it takes, for n reached nodes and x edges outside the depth-first tree
// (x ≤ m-n+1; on real heaps a fifth to a half of all edges):
//
//	depth-first search         8n + n/8, and its stack (dfs)
//	edges outside the tree    12n + 6x
//	semidominators            16n + 6x + 4 bytes for each edge into the fullest range of 65,536 numbers
//	dominators                 8n + 6x at first, then 12n
//	the result                 8n
//
// At 1.3 edges per object it peaks at 18n, in addition to the graph's 9.2n. The search shows how
// much memory the rest needs; if that exceeds the budget, the function ends there. Time grows with
// n+m; the worst case is n log n + m log n.
//
// The algorithm is SEMI-NCA (L. Georgiadis, Linear-Time Algorithms for Dominators and Related
// Problems, 2005, 2.3), shaped by profiles:
//   - Everything is done in numbers of the depth-first search. One parallel pass over the edges
//     looks them up, at some ns per edge instead of 25 inside the dependent loops.
//   - That pass drops the edges of the depth-first tree, half to four fifths of all: Parent has
//     them. It stores the others grouped by target number, 65,536 numbers together, in 6 bytes
//     each. So there are no rows of predecessors for all nodes, and the graph is unchanged.
//   - The numbers at the ends of edges, and the data at these numbers, are loaded 64 together
//     before any decision: this saves a third of that pass on shuffled heaps.
//   - The search for a semidominator stops at the root. For a hub with a million incoming edges it
//     gets there after a few: a quarter of the time on heaps with hubs.
//   - A label is the least semidominator on a compressed path, not its node, which SEMI-NCA never
//     needs. Label and ancestor share 8 bytes, one miss for both: half the time of two arrays.
//   - A node without incoming edges outside the tree has its parent as semidominator and immediate
//     dominator. So semidominators are stored for the other nodes only, in place of their edges,
//     and the last pass visits only these.
func (g *Graph) Dominators(ctx context.Context, root uint32, entries []uint32, opt Options) (*Dominators, error) {
	return (&semiNCA{g: g, opt: opt, entries: entries}).run(ctx, root)
}

// DominatorsOfAll is Dominators with the Entries of the nodes that root does not reach. It stores
// what root reaches in Dominators.Reached, n/8 bytes, so that callers need no search for it.
func (g *Graph) DominatorsOfAll(ctx context.Context, root uint32, opt Options) (*Dominators, error) {
	return (&semiNCA{g: g, opt: opt, all: true}).run(ctx, root)
}

func (s *semiNCA) run(ctx context.Context, root uint32) (*Dominators, error) {
	defer s.free()
	for _, phase := range []func(context.Context) error{
		func(ctx context.Context) error { return s.search(ctx, root) },
		s.collect, s.semidominators, s.nearest, s.results,
	} {
		if err := phase(ctx); err != nil {
			return nil, err
		}
	}
	d := &Dominators{Idom: s.idom.Slice(), Order: s.order.Slice(), Live: s.live, Reached: s.reached.words, idom: s.idom, order: s.order, reached: s.reached}
	s.idom, s.order, s.reached = nil, nil, bitmap{}
	return d, nil
}

// outsideBytes returns the maximum memory of an edgeStore for edges between so many numbers: full
// blocks, and one partial block per part and worker.
func outsideBytes(numbers, edges uint64, workers int) int64 {
	const bytes = uint64(unsafe.Sizeof(block{}))
	return int64(bytes * (edges/blockSize + (numbers>>partBits+1)*uint64(workers) + growth))
}

// A semiNCA computes dominators. All arrays except num and idom are by number.
type semiNCA struct {
	g       *Graph
	opt     Options
	entries []uint32
	all     bool // find entries

	found   *offheap.Array[uint32] // the entries found
	reached bitmap                 // nodes that the root reaches, if all is set

	order  *offheap.Array[uint32] // the node of each number
	parent *offheap.Array[uint32] // in the depth-first tree; finally the immediate dominator
	count  int                    // number of numbered nodes
	live   int                    // number of nodes in the root's tree

	edges *edgeStore // outside the tree; then the semidominators that are not parents
	idom  *offheap.Array[uint32]
}

func (s *semiNCA) free() {
	freeAll(s.order, s.parent, s.idom, s.found)
	s.reached.Free()
	s.edges.Free()
}

func (s *semiNCA) search(ctx context.Context, root uint32) error {
	d, err := newDFS(s.g, s.entries, s.opt)
	if err != nil {
		return err
	}
	defer d.close()
	s.order, s.parent = d.order, d.parent
	if err := d.from(ctx, root); err != nil {
		return err
	}
	s.live = d.n
	if s.all {
		if err := s.findEntries(ctx, d); err != nil {
			return err
		}
	}
	if len(s.entries) > 0 {
		if err := d.from(ctx, uint32(s.g.Nodes())); err != nil {
			return err
		}
	}
	s.count = d.n
	d.forest() // shrinks the arrays
	return nil
}

// findEntries finds the entries of the nodes that the search has not reached.
func (s *semiNCA) findEntries(ctx context.Context, d *dfs) (err error) {
	if s.reached, err = newBitmap(s.opt.Budget, s.g.Nodes()); err != nil {
		return err
	}
	copy(s.reached.words, d.seen.words)
	d.stack.Free() // the root's tree may have needed much
	if s.found, err = s.g.Entries(ctx, s.reached.words, s.opt); err != nil {
		return err
	}
	s.entries = s.found.Slice()
	d.entries = s.entries
	return d.newStack(s.opt)
}

// outside returns the maximum number of edges outside the depth-first tree. The tree has one edge
// into each number except roots.
func (s *semiNCA) outside() int { return s.g.Edges() + len(s.entries) - max(0, s.count-2) }

// need checks the memory of the phases after the search, in addition to order and parents: the
// edges, with the numbers and later with the forest.
func (s *semiNCA) need() error {
	edges := outsideBytes(uint64(s.count), uint64(s.outside()), s.opt.workers())
	more := max(4*int64(s.g.Nodes()+1), 8*int64(s.count)-4*int64(len(s.found.Slice())))
	return s.opt.Budget.Need("the dominators of the graph", more+edges)
}

// collect stores the edges outside the tree, as numbers.
func (s *semiNCA) collect(ctx context.Context) error {
	if err := s.need(); err != nil {
		return err
	}
	n, m := s.g.Nodes(), s.g.Edges()
	nums, err := offheap.Make[uint32](s.opt.Budget, n+1)
	if err != nil {
		return err
	}
	defer nums.Free()
	num, order := nums.Slice(), s.order.Slice()
	if err := s.opt.touch(ctx, num); err != nil {
		return err
	}
	err = s.opt.job("numbers").spans(ctx, s.count, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			num[order[i]] = uint32(i) + 1 // 0 marks a node without a number
		}
	})
	if err != nil {
		return err
	}
	j := s.opt.job("edges")
	if s.edges, err = newEdgeStore(s.opt.Budget, s.count, s.outside(), j.workers); err != nil {
		return err
	}
	err = j.spans(ctx, m, func(w, lo, hi int) { s.collectRows(w, lo, hi, num) })
	if err == nil && len(s.entries) > 0 {
		err = s.opt.job("entries").spans(ctx, len(s.entries), func(w, lo, hi int) {
			s.collectRow(w, uint32(s.live), s.entries[lo:hi], num)
		})
	}
	if err == nil {
		err = s.edges.done()
	}
	s.found.Free()
	return err
}

// collectRows processes the edges lo to hi of the graph.
func (s *semiNCA) collectRows(w, lo, hi int, num []uint32) {
	offsets := s.g.Offsets
	u := s.g.rowOf(lo)
	var ends looked
	for at := lo; at < hi; {
		some := s.g.Targets[at:min(hi, at+len(ends.num))]
		ends.look(some, num, s.parent.Slice())
		for i := 0; i < len(some); {
			for int(offsets[u+1]) <= at+i {
				u++
			}
			to := min(len(some), int(offsets[u+1])-at)
			if a := num[u]; a != 0 {
				s.keep(w, a-1, &ends, i, to)
			}
			i = to
		}
		at += len(some)
	}
}

// collectRow processes the edges in row, which lead from number a.
func (s *semiNCA) collectRow(w int, a uint32, row []uint32, num []uint32) {
	var ends looked
	for len(row) > 0 {
		some := row[:min(len(row), len(ends.num))]
		row = row[len(some):]
		ends.look(some, num, s.parent.Slice())
		s.keep(w, a, &ends, 0, len(some))
	}
}

// A looked holds the numbers of some nodes and of their parents, loaded together: dependent branches
// would make the processor wait for one after another.
type looked struct{ num, parent [64]uint32 }

func (l *looked) look(nodes []uint32, num, parent []uint32) {
	for i, v := range nodes[:min(len(nodes), len(l.num))] {
		l.num[i] = num[v] - 1
	}
	for i := range nodes[:min(len(nodes), len(l.num))] {
		if b := l.num[i]; b != None { // an unreached node
			l.parent[i] = parent[b]
		}
	}
}

// keep stores the edges from number a that affect dominators. It skips tree edges, loops, and edges
// from the second tree into the first.
func (s *semiNCA) keep(w int, a uint32, ends *looked, from, to int) {
	live := uint32(s.live)
	for i := from; i < to; i++ {
		b := ends.num[i]
		if ends.parent[i] == a || b == a || (b < live) != (a < live) {
			continue
		}
		s.edges.put(w, a, b)
	}
}

// A link is the entry of a number in the forest that SEMI-NCA builds from the highest number down.
// Numbers above the current one are linked. Evaluating a path compresses it: ancestor is the first
// number on the way up that was not linked at that time, and label is the least semidominator
// before it.
type link struct{ ancestor, label uint32 }

// semidominators evaluates the edges outside the tree, from the highest number down. It replaces
// them with the semidominators that are not the number's parent.
func (s *semiNCA) semidominators(ctx context.Context) error {
	array, err := offheap.Make[link](s.opt.Budget, s.count)
	if err != nil {
		return err
	}
	defer array.Free()
	links, parent := array.Slice(), s.parent.Slice()
	err = s.opt.job("forest").spans(ctx, s.count, func(_, lo, hi int) {
		for i, p := range parent[lo:hi] {
			links[lo+i] = link{p, p}
		}
	})
	if err != nil {
		return err
	}
	sizes, most := s.edges.sizes()
	from, err := offheap.Make[uint32](s.opt.Budget, most)
	if err != nil {
		return err
	}
	defer from.Free()
	j := s.opt.job("semidominators")
	rows := &partRows{from: from.Slice()}
	values := new([partSize]uint32)
	for part := len(sizes) - 1; part >= 0; part-- {
		if sizes[part] != 0 {
			s.edges.sort(part, rows)
			n := s.edges.length(part)
			clear(values[:n])
			if err := s.semiPart(ctx, j, links, uint32(part)<<partBits, rows, values[:n]); err != nil {
				return err
			}
			s.edges.replace(part, values)
		}
		if err := j.step(ctx, partSize, uint64(s.count)); err != nil {
			return err
		}
	}
	return nil
}

// semiPart evaluates the edges into one part. values holds the semidominators + 1.
func (s *semiNCA) semiPart(ctx context.Context, j *job, links []link, base uint32, rows *partRows, values []uint32) error {
	parent := s.parent.Slice()
	left := stride
	for low := len(values) - 1; low >= 0; low-- {
		row := rows.from[rows.start[low]:rows.start[low+1]]
		if len(row) == 0 {
			continue
		}
		v := base + uint32(low)
		semi := parent[v]
		root := uint32(0)
		if int(v) >= s.live {
			root = uint32(s.live)
		}
		for _, u := range row {
			// From an ancestor, the edge itself is the path.
			if u > v {
				u = eval(ctx, links, u, v)
			}
			if semi = min(semi, u); semi == root {
				break // a few of a hub's million edges show that the root is its semidominator
			}
			if left--; left <= 0 {
				if err := j.step(ctx, 0, uint64(s.count)); err != nil {
					return err
				}
				left = stride
			}
		}
		if semi < parent[v] {
			links[v].label = semi
			values[low] = semi + 1
		}
	}
	return nil
}

// eval returns the least label on the way up from u, a number above v, before it reaches v or
// below. It compresses the way. A way may have 100 million steps, so eval uses no stack: it
// reverses the ancestors on the way up and restores them on the way down. If ctx ends on the way,
// the forest is unusable.
func eval(ctx context.Context, links []link, u, v uint32) uint32 {
	root := links[u].ancestor
	if root <= v {
		return links[u].label
	}
	below, x := u, root
	for steps := 1; ; steps++ {
		l := &links[x]
		root = l.ancestor
		l.ancestor = below
		if root <= v {
			break
		}
		below, x = x, root
		if steps%stride == 0 && ctx.Err() != nil {
			return 0
		}
	}
	least := links[x].label
	for steps := 1; x != u; steps++ {
		below = links[x].ancestor
		links[x].ancestor = root
		x = below
		least = min(least, links[x].label)
		links[x].label = least
		if steps%stride == 0 && ctx.Err() != nil {
			return 0
		}
	}
	links[u].ancestor = root
	return least
}

// nearest converts parents to immediate dominators, from the lowest number up. The immediate
// dominator is the nearest number on the way up the dominator tree from the parent that is not
// above the semidominator. Mostly that is the parent itself.
//
// The way is a few steps on heaps (0.04 s for 18 million objects), but n steps for n nodes of a
// list whose elements are also in an array. After 4 steps per node on average, the rest uses jump
// pointers (E. W. Myers, An Applicative Random-Access Stack, 1983): log n steps, in the 8 bytes per
// node of the links.
func (s *semiNCA) nearest(ctx context.Context) error {
	c := &climber{ctx: ctx, budget: s.opt.Budget, dom: s.parent.Slice(), steps: 4*s.count + 1<<20}
	defer c.Free()
	j := s.opt.job("dominators")
	for part := range s.edges.parts() {
		s.edges.all(part, func(b *block) {
			for i, semi := range b.from[:b.n] {
				v := uint32(part)<<partBits + uint32(b.into[i])
				c.dom[v] = c.find(v, semi)
			}
		})
		if c.err != nil {
			return c.err
		}
		if err := j.step(ctx, partSize, uint64(s.count)); err != nil {
			return err
		}
	}
	s.edges.Free()
	return nil
}

// A climber climbs the dominator tree. Its numbers must be ascending.
type climber struct {
	ctx    context.Context
	budget *offheap.Budget
	err    error
	dom    []uint32 // immediate dominators below the current number; above it parents
	steps  int      // single steps left

	jumps *offheap.Array[jump] // for the numbers below known, once steps is 0
	known uint32
}

// A jump is the depth of a number in the dominator tree, and an ancestor chosen so that log n jumps
// and steps reach any ancestor of any number.
type jump struct{ depth, to uint32 }

func (c *climber) Free() { c.jumps.Free() }

// find returns the nearest number on the way up from v's parent that is not above limit.
func (c *climber) find(v, limit uint32) uint32 {
	d := c.dom[v]
	for d > limit && c.steps > 0 && c.err == nil {
		d = c.dom[d]
		if c.steps--; c.steps%stride == 0 {
			c.err = c.ctx.Err()
		}
	}
	if c.steps > 0 || c.err != nil {
		return d
	}
	if c.learn(v); c.err != nil {
		return d
	}
	for jumps := c.jumps.Slice(); d > limit; {
		if to := jumps[d].to; to > limit {
			d = to
		} else {
			d = c.dom[d]
		}
	}
	return d
}

// learn computes the jumps of all numbers below v.
func (c *climber) learn(v uint32) {
	if c.jumps == nil {
		if c.jumps, c.err = offheap.Make[jump](c.budget, len(c.dom)); c.err != nil {
			return
		}
	}
	jumps := c.jumps.Slice()
	for ; c.known < v; c.known++ {
		i := c.known
		d := c.dom[i]
		if d == i { // a root
			jumps[i] = jump{0, i}
			continue
		}
		over, to := jumps[d], d
		// Two jumps of equal length become one.
		if next := jumps[over.to]; over.depth-next.depth == next.depth-jumps[next.to].depth {
			to = next.to
		}
		jumps[i] = jump{over.depth + 1, to}
		if i%stride == 0 && c.ctx.Err() != nil {
			c.err = c.ctx.Err()
			return
		}
	}
}

// results converts the tree from numbers to nodes.
func (s *semiNCA) results(ctx context.Context) error {
	n := s.g.Nodes()
	var err error
	if s.idom, err = offheap.Make[uint32](s.opt.Budget, n+1); err != nil {
		return err
	}
	idom, order, dom := s.idom.Slice(), s.order.Slice(), s.parent.Slice()
	if s.count <= n { // with the pseudo root there may be n+1
		err = s.opt.job("nodes").spans(ctx, n+1, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				idom[i] = None
			}
		})
	}
	if err != nil {
		return err
	}
	return s.opt.job("nodes").spans(ctx, s.count, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			idom[order[i]] = order[dom[i]]
		}
	})
}
