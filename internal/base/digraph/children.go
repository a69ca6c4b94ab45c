package digraph

import (
	"context"
	"math/bits"
	"slices"

	"github.com/sosgo/sosgo/internal/base/offheap"
)

// Children lists the nodes that each node immediately dominates. Most nodes have an edge from their
// dominator, so the dominator's row finds them. Only the others are stored, a tenth of the 8 bytes
// per node that rows for all would take. Children is valid as long as the graph and the dominators
// are.
type Children struct {
	g    *Graph
	idom []uint32
	near bitmap  // nodes with an edge from their dominator
	far  *sparse // the other nodes, by dominator
	more bitmap  // nodes with an edge from another node, or with two edges from their dominator
}

// Children finds the children of all nodes in the dominator tree of g; the last node is the pseudo
// root. The result takes 3n/8 + n/16 bytes, 4 for each child without an edge from its dominator,
// and 4 for each dominator of such a child. The caller frees it.
func (d *Dominators) Children(ctx context.Context, g *Graph, opt Options) (_ *Children, err error) {
	c := &Children{g: g, idom: d.Idom}
	defer func() {
		if err != nil {
			c.Free()
		}
	}()
	if c.near, err = newBitmap(opt.Budget, len(d.Idom)); err != nil {
		return nil, err
	}
	if c.more, err = newBitmap(opt.Budget, len(d.Idom)); err != nil {
		return nil, err
	}
	if c.far, err = newSparse(opt.Budget, len(d.Idom)); err != nil {
		return nil, err
	}
	if err = opt.job("children").spans(ctx, g.Edges(), func(_, lo, hi int) { c.mark(lo, hi) }); err != nil {
		return nil, err
	}
	s := c.far
	if err = c.eachFar(ctx, func(_, p uint32) { s.has.add(p) }); err != nil {
		return nil, err
	}
	if err = s.index(opt.Budget); err != nil {
		return nil, err
	}
	if err = c.eachFar(ctx, func(_, p uint32) { s.ends[s.rank(p)+1]++ }); err != nil {
		return nil, err
	}
	if err = s.room(ctx, opt.Budget); err != nil {
		return nil, err
	}
	return c, c.eachFar(ctx, func(u, p uint32) {
		k := s.rank(p) + 1
		s.targets[s.ends[k]] = u
		s.ends[k]++
	})
}

// eachFar calls f, in order, for each node without an edge from its dominator.
func (c *Children) eachFar(ctx context.Context, f func(u, p uint32)) error {
	for w, word := range c.near.words {
		for rest := ^word; rest != 0; rest &= rest - 1 {
			u := w*64 + bits.TrailingZeros64(rest)
			if u >= len(c.idom) {
				break
			}
			if p := c.idom[u]; p != None && int(p) != u {
				f(uint32(u), p)
			}
		}
		if w%(stride/64) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// Free releases the memory.
func (c *Children) Free() {
	if c != nil {
		c.near.Free()
		c.more.Free()
		c.far.Free()
	}
}

// mark sets near and more for the targets of the edges lo to hi.
func (c *Children) mark(lo, hi int) {
	u := c.g.rowOf(lo)
	var idom [64]uint32
	for at := lo; at < hi; {
		some := c.g.Targets[at:min(hi, at+len(idom))]
		for i, v := range some { // loaded together, see looked
			idom[i] = c.idom[v]
		}
		for i, v := range some {
			for int(c.g.Offsets[u+1]) <= at+i {
				u++
			}
			if idom[i] != uint32(u) || c.near.addShared(v) {
				c.more.addShared(v)
			}
		}
		at += len(some)
	}
}

// Append appends the children of u to a list, ascending.
func (c *Children) Append(list []uint32, u uint32) []uint32 {
	from := len(list)
	if int(u) < c.g.Nodes() {
		for _, v := range c.g.Row(u) {
			if c.idom[v] == u && v != u {
				list = append(list, v)
			}
		}
	}
	if near := list[from:]; !slices.IsSorted(near) {
		slices.Sort(near)
	}
	list = list[:from+len(slices.Compact(list[from:]))]
	far := c.far.row(u)
	if len(far) == 0 {
		return list
	}
	// Merge, from the end.
	i, j := len(list)-1, len(far)-1
	list = slices.Grow(list, len(far))[:len(list)+len(far)]
	for at := len(list) - 1; j >= 0; at-- {
		if i >= from && list[i] > far[j] {
			list[at] = list[i]
			i--
		} else {
			list[at] = far[j]
			j--
		}
	}
	return list
}

// A treeWalk visits a part of the dominator tree in preorder.
type treeWalk struct {
	t     *Children
	seen  bitmap // visited or postponed nodes with an edge from their dominator, which may have several edges to them
	stack *offheap.Array[uint32]
	n     int
}

func newTreeWalk(t *Children, top uint32, opt Options) (*treeWalk, error) {
	seen, err := newBitmap(opt.Budget, len(t.idom))
	if err != nil {
		return nil, err
	}
	w := &treeWalk{t: t, seen: seen}
	if w.stack, err = offheap.Reserve[uint32](opt.Budget, len(t.idom)); err == nil && t.idom[top] != None {
		err = w.push([]uint32{top})
	}
	if err != nil {
		w.free()
		return nil, err
	}
	return w, nil
}

func (w *treeWalk) free() {
	w.seen.Free()
	w.stack.Free()
}

// push postpones nodes.
func (w *treeWalk) push(list []uint32) error {
	if need := w.n + len(list); need > len(w.stack.Slice()) {
		if err := w.stack.Grow(min(w.stack.Cap(), 2*need+1024)); err != nil {
			return err
		}
	}
	w.n += copy(w.stack.Slice()[w.n:], list)
	return nil
}

// next returns the next node, None after the last, and whether it has children.
func (w *treeWalk) next() (u uint32, inner bool, err error) {
	if w.n == 0 {
		return None, false, nil
	}
	w.n--
	u = w.stack.Slice()[w.n]
	begin := w.n
	if int(u) < w.t.g.Nodes() {
		for _, v := range w.t.g.Row(u) {
			if w.t.idom[v] != u || v == u || w.seen.has(v) {
				continue
			}
			w.seen.add(v)
			if stack := w.stack.Slice(); w.n < len(stack) {
				stack[w.n] = v
				w.n++
			} else if err := w.push([]uint32{v}); err != nil {
				return None, false, err
			}
		}
	}
	if far := w.t.far.row(u); len(far) > 0 {
		if err := w.push(far); err != nil {
			return None, false, err
		}
	}
	return u, w.n > begin, nil
}
