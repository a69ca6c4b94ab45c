package graph

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/digraph"
	"github.com/sosgo/sosgo/internal/lazy"
	"github.com/sosgo/sosgo/internal/offheap"
	"github.com/sosgo/sosgo/target"
)

// Dominators has the retained size of each node. A node is dominated by the nodes that are on all of its paths from the
// root; the last of them is its immediate dominator. Dead objects have a tree of their own, whose root is Garbage.
// Dominators is safe for concurrent use until the graph is closed.
type Dominators struct {
	g        *Graph
	tree     *digraph.Dominators
	sums     *offheap.Array[uint64]
	retained []uint64 // of sums
	children lazy.Long[*digraph.Graph]
}

// Dominators computes the dominators and retained sizes of all nodes, once. It needs 16 bytes per node, and at most 18
// more during the computation.
func (g *Graph) Dominators(ctx context.Context) (*Dominators, error) {
	return g.lazy.doms.GetContext(ctx, func(ctx context.Context) (*Dominators, error) {
		return using(ctx, g, func(ctx context.Context) (*Dominators, error) {
			if d, err := g.store.loadDominators(ctx, g); d != nil || err != nil {
				return d, err
			}
			d, err := g.dominators(ctx)
			if err == nil {
				d.save(ctx, g.store)
			}
			return d, err
		})
	})
}

func (g *Graph) dominators(ctx context.Context) (*Dominators, error) {
	defer g.budget.Recycle()()
	tree, err := g.rows.DominatorsOfAll(ctx, g.Root(), g.lazy.options)
	if err != nil {
		return nil, err
	}
	if _, err := g.lazy.live.GetContext(ctx, func(ctx context.Context) (*Liveness, error) { return g.liveAs(ctx, tree.Reached) }); err != nil {
		tree.Free()
		return nil, err
	}
	tree.FreeReached()
	sums, err := tree.Retained(ctx, g.size, g.lazy.options)
	if err != nil {
		tree.Free()
		return nil, err
	}
	d := &Dominators{g: g, tree: tree, sums: sums, retained: sums.Slice()}
	if err := d.addHuge(ctx); err != nil {
		d.free()
		return nil, err
	}
	return d, nil
}

func (d *Dominators) free() {
	d.tree.Free()
	d.sums.Free()
	d.retained = nil
	forget(&d.children, (*digraph.Graph).Free)
}

// addHuge adds the part of objects of 4 GB and more that does not fit in 32 bits.
func (d *Dominators) addHuge(ctx context.Context) error {
	if len(d.g.huge) == 0 {
		return nil
	}
	array, err := offheap.Make[uint64](d.g.budget, len(d.retained))
	if err != nil {
		return err
	}
	defer array.Free()
	more := array.Slice()
	for n, size := range d.g.huge {
		more[n] = size - hugeSize
	}
	for i, n := range slices.Backward(d.tree.Order) {
		if i%numberPiece == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if p := d.tree.Idom[n]; p != n {
			more[p] += more[n]
		}
		d.retained[n] += more[n]
	}
	return nil
}

// Garbage returns the node that stands for no owner: the immediate dominator of dead objects that no single dead object
// owns. It is not a node of the graph.
func (d *Dominators) Garbage() Node { return Node(d.g.Nodes()) }

// Idom returns the immediate dominator of n: the object or Source without which n would not be alive. It is n itself
// for the root and for Garbage, and Garbage for dead objects that no single dead object owns.
func (d *Dominators) Idom(n Node) Node {
	if d.tree == nil {
		return NoNode
	}
	if int(n) >= len(d.tree.Idom) {
		return NoNode
	}
	return d.tree.Idom[n]
}

// Retained returns the retained size of n in bytes: the size of all objects that n dominates, including n. For the root
// it is the size of all live objects, for Garbage of all dead ones.
func (d *Dominators) Retained(n Node) uint64 {
	if int(n) >= len(d.retained) {
		return 0
	}
	return d.retained[n]
}

// Children returns the nodes that n immediately dominates, in the order of nodes. The first call computes 8 bytes a
// node. The slice belongs to the graph.
func (d *Dominators) Children(ctx context.Context, n Node) ([]Node, error) {
	rows, err := d.children.GetContext(ctx, func(ctx context.Context) (*digraph.Graph, error) {
		return using(ctx, d.g, func(ctx context.Context) (*digraph.Graph, error) {
			return d.tree.Children(ctx, d.g.lazy.options)
		})
	})
	if err != nil {
		return nil, err
	}
	return rows.Row(n), nil
}

// bySize orders nodes by their retained sizes, the largest first; equal ones keep the order of nodes.
func (d *Dominators) bySize(a, b Node) int {
	return cmp.Or(cmp.Compare(d.retained[b], d.retained[a]), cmp.Compare(a, b))
}

// Largest returns the children of n with the largest retained sizes, at most most of them, in that order; equal ones
// keep the order of nodes. others is the number of the other children, and size their retained size.
func (d *Dominators) Largest(ctx context.Context, n Node, most int) (top []Node, others int, size uint64, err error) {
	children, err := d.Children(ctx, n)
	if err != nil {
		return nil, 0, 0, err
	}
	order := d.bySize
	top = make([]Node, 0, min(most, len(children)))
	for _, c := range children {
		size += d.retained[c]
		if len(top) == most && (most == 0 || order(c, top[most-1]) >= 0) {
			continue
		}
		i, _ := slices.BinarySearchFunc(top, c, order)
		if len(top) == most {
			top = top[:most-1]
		}
		top = slices.Insert(top, i, c)
	}
	for _, c := range top {
		size -= d.retained[c]
	}
	return top, len(children) - len(top), size, nil
}

// A Part is the live or the dead part of the heap.
type Part uint8

// The parts.
const (
	PartLive Part = iota
	PartDead
)

// order returns a part in the preorder of its dominator tree.
func (d *Dominators) order(p Part) []uint32 {
	if p == PartDead {
		return d.tree.Order[d.tree.Live:]
	}
	return d.tree.Order[:d.tree.Live]
}

// ByType returns what the objects of each type retain together, by TypeIndex. It is the sum over the objects that no
// object of the same type dominates, since that one already includes them.
func (d *Dominators) ByType(ctx context.Context, p Part) ([]uint64, error) {
	return using(ctx, d.g, func(ctx context.Context) ([]uint64, error) {
		if len(d.g.rare) == 0 {
			return digraph.SumByClass(ctx, d.tree, d.order(p), d.g.typ, len(d.g.types), d.retained, d.g.lazy.options)
		}
		class := make([]uint32, len(d.g.types))
		for i := range class {
			class[i] = uint32(i)
		}
		return d.ByTypeClass(ctx, p, class, len(class))
	})
}

// ByTypeClass is ByType for classes of types, such as assemblies or namespaces. class has the class of each type, from
// 0 to count-1, by TypeIndex.
func (d *Dominators) ByTypeClass(ctx context.Context, p Part, class []uint32, count int) ([]uint64, error) {
	return using(ctx, d.g, func(ctx context.Context) ([]uint64, error) {
		array, err := offheap.Make[uint32](d.g.budget, d.g.objects)
		if err != nil {
			return nil, err
		}
		defer array.Free()
		classes := array.Slice()
		none := func() struct{} { return struct{}{} }
		err = parallel(ctx, d.g.lazy.options.Workers, len(classes), numberPiece, none, func(_ struct{}, from, to int) {
			for i := from; i < to; i++ {
				classes[i] = class[d.g.TypeIndex(Node(i))]
			}
		})
		if err != nil {
			return nil, err
		}
		return digraph.SumByClass(ctx, d.tree, d.order(p), classes, count, d.retained, d.g.lazy.options)
	})
}

// ByGeneration returns what the objects of each generation retain together, as in ByType, by heap.Generation.
func (d *Dominators) ByGeneration(ctx context.Context, p Part) ([]uint64, error) {
	return using(ctx, d.g, func(ctx context.Context) ([]uint64, error) {
		array, err := d.g.byGeneration(ctx)
		if err != nil {
			return nil, err
		}
		defer array.Free()
		return digraph.SumByClass(ctx, d.tree, d.order(p), array.Slice(), int(heap.GenerationUnknown)+1, d.retained, d.g.lazy.options)
	})
}

type generationRun struct {
	from, to Node
	gen      heap.Generation
}

// generationRuns returns the runs of objects in segments, in order. A generation is contiguous in a segment.
func (g *Graph) generationRuns(ctx context.Context) ([]generationRun, error) {
	var runs []generationRun
	last := Node(0)
	for i := range g.h.Segments() {
		s := &g.h.Segments()[i]
		from := max(last, g.index.from(s.Objects.Start))
		to := g.index.from(s.Objects.End)
		for from < to {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			gen := s.Generation(g.Address(from))
			end := to
			if s.Kind == heap.KindEphemeral {
				for _, cut := range [...]target.Addr{s.Gen1.Start, s.Gen0.Start, s.Gen0.End} {
					if at := g.index.from(cut); at > from {
						end = min(end, at)
					}
				}
			}
			runs = append(runs, generationRun{from, end, gen})
			from, last = end, end
		}
	}
	return runs, nil
}

func (g *Graph) generations(ctx context.Context, out []uint8) error {
	runs, err := g.generationRuns(ctx)
	if err != nil {
		return err
	}
	none := func() struct{} { return struct{}{} }
	return parallel(ctx, g.lazy.options.Workers, len(out), numberPiece, none, func(_ struct{}, from, to int) {
		i := sort.Search(len(runs), func(i int) bool { return int(runs[i].to) > from })
		for n := from; n < to; {
			gen, end := heap.GenerationUnknown, to // after all segments
			if i < len(runs) {
				if r := &runs[i]; n < int(r.from) {
					end = min(to, int(r.from))
				} else {
					gen, end = r.gen, min(to, int(r.to))
					i++
				}
			}
			for ; n < end; n++ {
				out[n] = uint8(gen)
			}
		}
	})
}

// liveAs returns the live nodes, given a bit for each node.
func (g *Graph) liveAs(ctx context.Context, words []uint64) (*Liveness, error) {
	array, err := offheap.Make[uint64](g.budget, len(words))
	if err != nil {
		return nil, err
	}
	copy(array.Slice(), words)
	l, err := g.newLive(ctx, array)
	return g.keepLive(ctx, l, err)
}
