package digraph

import (
	"context"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// A Forest is the result of a depth-first search. A node's number is its position in preorder, from
// 0.
type Forest struct {
	Order  []uint32 // reached nodes, by number
	Parent []uint32 // by number: the number of the node's parent; a root is its own parent

	order, parent *offheap.Array[uint32]
}

// Free releases the arrays.
func (f *Forest) Free() { freeAll(f.order, f.parent) }

// A dfs is a depth-first search. Its stack holds edges: a target and the number of the source. A
// node may be on the stack more than once. The topmost edge reaches it, as in a recursion; the
// others find it visited.
//
// Rows are pushed in batches, above an entry for the rest of the row: a row of 10 million edges
// takes one entry and a batch. For a whole batch, the visited bits and the starts of rows are
// loaded before its first node is visited, so that the processor waits for these misses at once.
// The bits fit the cache, unlike 4-byte numbers. The remaining misses depend on each other: 25 ns
// per node on ordered heaps, 75 on shuffled ones.
type dfs struct {
	g       *Graph
	entries []uint32 // the row of the pseudo root, node n
	seen    bitmap
	stack   *offheap.Array[edge]
	order   *offheap.Array[uint32]
	parent  *offheap.Array[uint32]
	n       int // number of numbered nodes
	job     *job
	fetched uint32 // keeps prefetching loads alive
}

// An edge leads to a node from the node with a number. Two entries represent the rest of a row: the
// start of the rest and the number of its node, and above it the node and restMark.
type edge struct{ to, from uint32 }

const (
	restMark = None
	batch    = 32
)

func newDFS(g *Graph, entries []uint32, opt Options) (_ *dfs, err error) {
	n := g.Nodes()
	if err := opt.Budget.Need("the depth-first order of the graph", 8*int64(n+1)+int64(n)/8); err != nil {
		return nil, err
	}
	d := &dfs{g: g, entries: entries, job: opt.job("depth-first order")}
	defer func() {
		if err != nil {
			d.close()
			freeAll(d.order, d.parent)
		}
	}()
	if d.seen, err = newBitmap(opt.Budget, n); err != nil {
		return nil, err
	}
	if err = d.newStack(opt); err != nil {
		return nil, err
	}
	if d.order, err = offheap.Make[uint32](opt.Budget, n+1); err != nil {
		return nil, err
	}
	d.parent, err = offheap.Make[uint32](opt.Budget, n+1)
	return d, err
}

// newStack allocates room for all edges and entries.
func (d *dfs) newStack(opt Options) (err error) {
	m := d.g.Edges() + len(d.entries)
	d.stack, err = offheap.Reserve[edge](opt.Budget, m+m/batch*2+4*batch)
	return err
}

// close frees what only the search needs.
func (d *dfs) close() {
	d.seen.Free()
	d.stack.Free()
}

func (d *dfs) forest() *Forest {
	d.order.Shrink(d.n)
	d.parent.Shrink(d.n)
	return &Forest{Order: d.order.Slice(), Parent: d.parent.Slice(), order: d.order, parent: d.parent}
}

// from visits root and everything reached from it. Root n is the pseudo root: it has no bit, and
// entries is its row.
func (d *dfs) from(ctx context.Context, root uint32) error {
	pseudo := uint32(d.g.Nodes())
	if root != pseudo {
		if d.seen.has(root) {
			return nil
		}
		d.seen.add(root)
	}
	order, parent := d.order.Slice(), d.parent.Slice()
	num := uint32(d.n)
	order[num], parent[num] = root, num
	d.n++
	sp, err := d.push(0, root, num, d.begin(root))
	left := stride
	for sp > 0 && err == nil {
		stack := d.stack.Slice()
		sp--
		e := stack[sp]
		if e.from == restMark {
			sp--
			sp, err = d.push(sp, e.to, stack[sp].from, stack[sp].to)
			left -= batch
		} else if !d.seen.has(e.to) {
			d.seen.add(e.to)
			num := uint32(d.n)
			order[num], parent[num] = e.to, e.from
			d.n++
			sp, err = d.push(sp, e.to, num, d.g.Offsets[e.to])
			left--
		}
		if left <= 0 && err == nil {
			err = d.job.step(ctx, stride, uint64(len(order)))
			left = stride
		}
	}
	return err
}

func (d *dfs) begin(u uint32) uint32 {
	if int(u) == d.g.Nodes() {
		return 0
	}
	return d.g.Offsets[u]
}

// push pushes the next batch of a node's row above the rest of the row. The first edge is on top.
func (d *dfs) push(sp int, node, num, from uint32) (int, error) {
	var row []uint32
	if g := d.g; int(node) == g.Nodes() {
		row = d.entries[from:]
	} else {
		row = g.Targets[from:g.Offsets[node+1]]
	}
	if len(row) == 0 {
		return sp, nil
	}
	if sp+batch+2 > len(d.stack.Slice()) {
		if err := d.stack.Grow(min(d.stack.Cap(), 2*sp+64*batch)); err != nil {
			return sp, err
		}
	}
	stack := d.stack.Slice()
	if len(row) > batch {
		stack[sp] = edge{from + batch, num}
		stack[sp+1] = edge{node, restMark}
		sp += 2
		row = row[:batch]
	}
	begin := sp
	for i := len(row) - 1; i >= 0; i-- {
		v := row[i]
		if !d.seen.has(v) {
			stack[sp] = edge{v, num}
			sp++
		}
	}
	if sp-begin > 1 {
		d.fetch(stack[begin:sp])
	}
	return sp, nil
}

// fetch loads the rows of nodes into the cache.
func (d *dfs) fetch(edges []edge) {
	var at [batch]uint32
	edges = edges[:min(len(edges), batch)]
	for i, e := range edges {
		at[i] = d.g.Offsets[e.to]
	}
	for i := range edges {
		if k := at[i]; int(k) < len(d.g.Targets) {
			d.fetched ^= d.g.Targets[k]
		}
	}
}
