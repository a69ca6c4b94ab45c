package graph

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

// lazies holds the data that is computed from a graph when first needed.
type lazies struct {
	options digraph.Options
	reach   lazy.Value[*Reach]
	live    lazy.Value[*Liveness]
	starts  lazy.Value[*offheap.Array[uint64]]
	reverse lazy.Value[*Referrers]
	doms    lazy.Value[*Dominators]
}

// free frees everything. Later calls fail, and earlier results are empty.
func (l *lazies) free() {
	forget(&l.reach, func(r *Reach) { r.parents.Free(); *r = Reach{Liveness: &Liveness{}} })
	forget(&l.live, func(r *Liveness) { r.bits.Free(); *r = Liveness{} })
	forget(&l.starts, (*offheap.Array[uint64]).Free)
	forget(&l.reverse, func(r *Referrers) { r.rows.Free(); r.rows = &digraph.Graph{} })
	forget(&l.doms, (*Dominators).free)
}

// forget frees a value if it was computed. Later calls of Get fail.
func forget[T any](v *lazy.Value[T], free func(T)) {
	if x, ok := v.Take(); ok {
		free(x)
	}
	_, _ = v.Get(closed[T])
}

func closed[T any]() (T, error) {
	var none T
	return none, errClosed
}

// A Reach holds a shortest path from the root to each live node. It is safe for concurrent use until the graph is
// closed.
type Reach struct {
	*Liveness
	parents *offheap.Array[uint32] // 4 bytes a node
	tree    []uint32
}

// Reach finds a shortest path to each live object, once. It needs 4 bytes per node, and a quarter of the time of Build.
// Use Live to find only which objects are live.
func (g *Graph) Reach(ctx context.Context) (*Reach, error) {
	return g.lazy.reach.GetContext(ctx, func(ctx context.Context) (*Reach, error) {
		return using(ctx, g, func(ctx context.Context) (*Reach, error) {
			parents, err := g.rows.ShortestPaths(ctx, []uint32{g.Root()}, g.lazy.options)
			if err != nil {
				return nil, err
			}
			r := &Reach{parents: parents, tree: parents.Slice()}
			r.Liveness, err = g.lazy.live.GetContext(ctx, func(ctx context.Context) (*Liveness, error) { return g.liveIn(ctx, r.tree) })
			if err != nil {
				parents.Free()
				return nil, err
			}
			return r, nil
		})
	})
}

// A Liveness holds the live nodes, which the root reaches. It is safe for concurrent use until the graph is closed.
type Liveness struct {
	bits          *offheap.Array[uint64] // a bit for each node
	words         []uint64
	objects, size uint64
}

// Live returns the live nodes. They are computed as a part of Reach or of Dominators. If neither was computed, Live
// takes the time of Reach. It needs a bit for each node.
func (g *Graph) Live(ctx context.Context) (*Liveness, error) {
	if l, ok := g.lazy.live.Known(); ok {
		return l, nil
	}
	return using(ctx, g, func(ctx context.Context) (*Liveness, error) {
		l, err := g.store.loadLive(ctx, g)
		if err != nil {
			return nil, err
		}
		if l == nil {
			if _, err := g.Reach(ctx); err != nil {
				return nil, err
			}
		}
		return g.lazy.live.GetContext(ctx, func(context.Context) (*Liveness, error) { return l, nil }) // nil: by Reach
	})
}

// liveIn returns the live nodes, given a tree of paths.
func (g *Graph) liveIn(ctx context.Context, tree []uint32) (*Liveness, error) {
	bits, err := offheap.Make[uint64](g.budget, (g.Nodes()+63)/64)
	if err != nil {
		return nil, err
	}
	words := bits.Slice()
	none := func() struct{} { return struct{}{} }
	err = parallel(ctx, g.lazy.options.Workers, len(words), numberPiece/64, none, func(_ struct{}, from, to int) {
		for w := from; w < to; w++ {
			word := uint64(0)
			for i, p := range tree[w*64 : min(w*64+64, len(tree))] {
				if p != digraph.None {
					word |= 1 << i
				}
			}
			words[w] = word
		}
	})
	if err != nil {
		bits.Free()
		return nil, err
	}
	l, err := g.newLive(ctx, bits)
	return g.keepLive(ctx, l, err)
}

// newLive counts the live objects. It takes over array.
func (g *Graph) newLive(ctx context.Context, array *offheap.Array[uint64]) (*Liveness, error) {
	l := &Liveness{bits: array, words: array.Slice()}
	var live, size atomic.Uint64
	none := func() struct{} { return struct{}{} }
	err := parallel(ctx, g.lazy.options.Workers, len(l.words), numberPiece/64, none, func(_ struct{}, from, to int) {
		objects, bytes := uint64(0), uint64(0)
		for w := from; w < to; w++ {
			for word := l.words[w]; word != 0; word &= word - 1 {
				n := w*64 + bits.TrailingZeros64(word)
				if n >= g.objects {
					break
				}
				objects++
				bytes += g.Size(Node(n))
			}
		}
		live.Add(objects)
		size.Add(bytes)
	})
	if err != nil {
		array.Free()
		return nil, err
	}
	l.objects, l.size = live.Load(), size.Load()
	return l, nil
}

// keepLive stores the live nodes in a file, unless err is not nil.
func (g *Graph) keepLive(ctx context.Context, l *Liveness, err error) (*Liveness, error) {
	if err == nil {
		g.store.save(ctx, keptLive, array("live", l.words))
	}
	return l, err
}

// Live reports whether n is live.
func (l *Liveness) Live(n Node) bool {
	w := int(n / 64)
	return w < len(l.words) && l.words[w]&(1<<(n%64)) != 0
}

// Count returns the number of live objects and their size in bytes.
func (l *Liveness) Count() (objects, size uint64) { return l.objects, l.size }

// Parent returns the node before n on its shortest path from the root. It is the root for the root, and NoNode for a
// dead node.
func (r *Reach) Parent(n Node) Node {
	if int(n) >= len(r.tree) {
		return NoNode
	}
	return r.tree[n]
}

// Path returns a shortest path from the root to n, including both: the root, Sources, and objects. It is nil if n is
// dead. Of equally short paths it returns the one through the first nodes.
func (r *Reach) Path(n Node) []Node {
	if r.Parent(n) == NoNode {
		return nil
	}
	return digraph.Path(r.tree, n)
}

// A Referrers holds the reversed edges. It is safe for concurrent use until the graph is closed.
type Referrers struct{ rows digraph.Rows }

// Referrers reverses the edges, once. It needs 4 bytes per node and 4 bytes per edge. It takes a third of the time if
// the dominators are known.
func (g *Graph) Referrers(ctx context.Context) (*Referrers, error) {
	return g.lazy.reverse.GetContext(ctx, func(ctx context.Context) (*Referrers, error) {
		return using(ctx, g, func(ctx context.Context) (*Referrers, error) {
			if r, err := g.store.loadReferrers(ctx, g); r != nil || err != nil {
				return r, err
			}
			if d, ok := g.lazy.doms.Known(); ok && g.store == nil {
				c, err := d.allChildren(ctx)
				if err != nil {
					return nil, err
				}
				rows, err := c.Reverse(ctx, g.lazy.options)
				if err != nil {
					return nil, err
				}
				return &Referrers{rows}, nil
			}
			rows, err := g.rows.Reverse(ctx, g.lazy.options)
			if err != nil {
				return nil, err
			}
			g.store.save(ctx, keptReferrers, array("offsets", rows.Offsets), array("targets", rows.Targets))
			return &Referrers{rows}, nil
		})
	})
}

// Of returns the nodes that refer to n, in order, each as often as it refers to n. The slice belongs to the graph.
func (r *Referrers) Of(n Node) []Node {
	if r.rows == nil || int(n) >= r.rows.Nodes() {
		return nil
	}
	return r.rows.Row(n)
}

// A Set is a set of nodes, with a bit for each node.
type Set struct{ words []uint64 }

// NewSet returns an empty set for the nodes of g.
func (g *Graph) NewSet() *Set { return &Set{words: make([]uint64, (g.Nodes()+63)/64)} }

// Has reports whether n is in the set.
func (s *Set) Has(n Node) bool {
	if int(n/64) >= len(s.words) {
		return false
	}
	return s.words[n/64]&(1<<(n%64)) != 0
}

// Add adds n and reports whether it is new.
func (s *Set) Add(n Node) bool {
	if int(n/64) >= len(s.words) {
		return false
	}
	w, bit := &s.words[n/64], uint64(1)<<(n%64)
	if *w&bit != 0 {
		return false
	}
	*w |= bit
	return true
}

// All calls yield with the nodes of the set, in order, until yield returns false.
func (s *Set) All(yield func(Node) bool) {
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			if !yield(Node(i*64 + bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// LiveStarts returns a function that reports whether a live object starts at an address. It needs 1/64 of the heap's
// bytes, once: a bit for each granule. The function is safe for concurrent use until the graph is closed.
func (g *Graph) LiveStarts(ctx context.Context) (func(target.Addr) bool, error) {
	starts, err := g.lazy.starts.GetContext(ctx, func(ctx context.Context) (*offheap.Array[uint64], error) {
		return using(ctx, g, func(ctx context.Context) (*offheap.Array[uint64], error) {
			live, err := g.Live(ctx)
			if err != nil {
				return nil, err
			}
			return g.starts(ctx, live.Live)
		})
	})
	if err != nil {
		return nil, err
	}
	return g.startsIn(starts), nil
}

// starts returns the starts of the objects in a set, as a bit for each granule.
func (g *Graph) starts(ctx context.Context, in func(Node) bool) (*offheap.Array[uint64], error) {
	x := g.index
	array, err := offheap.Make[uint64](g.budget, len(x.words))
	if err != nil {
		return nil, err
	}
	out := array.Sparse().Slice()
	none := func() struct{} { return struct{}{} }
	err = parallel(ctx, g.lazy.options.Workers, len(x.before)-1, numberPiece/512, none, func(_ struct{}, from, to int) {
		n := x.before[from]
		for w := from * blockWords; w < to*blockWords; w++ {
			word := uint64(0)
			for rest := x.words[w]; rest != 0; rest &= rest - 1 {
				if in(n) {
					word |= rest & -rest
				}
				n++
			}
			if word != 0 { // avoid committing memory that stays zero
				out[w] = word
			}
		}
	})
	if err != nil {
		array.Free()
		return nil, err
	}
	return array, nil
}

// startsIn returns a function that reports whether a start is at an address. It returns false once starts are freed.
func (g *Graph) startsIn(starts *offheap.Array[uint64]) func(target.Addr) bool {
	x := g.index
	return func(a target.Addr) bool {
		n, ok := x.granule(uint64(a))
		words := starts.Slice()
		return ok && n>>6 < uint64(len(words)) && words[n>>6]&(1<<(n&63)) != 0
	}
}

// LiveWithout is LiveStarts for objects that are live even without the Sources of one kind. Each call computes it
// again.
func (g *Graph) LiveWithout(ctx context.Context, kind SourceKind) (func(target.Addr) bool, error) {
	return using(ctx, g, func(ctx context.Context) (func(target.Addr) bool, error) {
		var from []uint32
		for _, s := range g.Referents(g.Root()) {
			if g.Source(s).Kind != kind {
				from = append(from, s)
			}
		}
		return g.liveFrom(ctx, from)
	})
}

// LiveProved is LiveStarts for objects that are live even without the roots that Unproved counts. Each call computes it
// again.
func (g *Graph) LiveProved(ctx context.Context) (func(target.Addr) bool, error) {
	return using(ctx, g, func(ctx context.Context) (func(target.Addr) bool, error) {
		var from []uint32
		seen := g.NewSet()
		for list := []Node{g.Root()}; len(list) > 0; {
			s := list[len(list)-1]
			list = list[:len(list)-1]
			for _, n := range g.Referents(s) {
				if !g.IsObject(n) && seen.Add(n) {
					list = append(list, n)
				}
			}
			for r := range g.RootRefs(s) {
				if root, ok := g.RootOf(s, r); !ok || !root.Conservative {
					from = append(from, r.Object)
				}
			}
		}
		return g.liveFrom(ctx, from)
	})
}

// liveFrom returns a function that reports whether an object reachable from the nodes starts at an address.
func (g *Graph) liveFrom(ctx context.Context, from []Node) (func(target.Addr) bool, error) {
	set, err := g.rows.NewReach(g.lazy.options)
	if err != nil {
		return nil, err
	}
	defer set.Free()
	if _, _, err := set.Add(ctx, from, nil); err != nil {
		return nil, err
	}
	starts, err := g.starts(ctx, set.Has)
	if err != nil {
		return nil, err
	}
	defer starts.Free()
	return g.startsIn(offheap.Lent(slices.Clone(starts.Slice()))), nil
}
