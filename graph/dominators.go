package graph

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

// Dominators has the retained size of each node. A node is dominated by the nodes on all of its paths from the root;
// the last of them is its immediate dominator. Dead objects are in a tree of their own with the root Garbage.
// Dominators is safe for concurrent use until the graph is closed.
type Dominators struct {
	g        *Graph
	tree     *digraph.Dominators
	retained *digraph.Sums
	children lazy.Value[*digraph.Children]
}

// Dominators computes the dominators and retained sizes of all nodes, once. It needs 8 bytes per node (10 if the
// objects have 4 GB or more), and up to 18 more during the computation.
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
	var more map[Node]uint64 // the part of sizes of 4 GB and more that does not fit in 32 bits
	if len(g.huge) > 0 {
		more = make(map[Node]uint64, len(g.huge))
		for n, size := range g.huge {
			more[n] = size - hugeSize
		}
	}
	retained, err := tree.Retained(ctx, g.size, more, g.lazy.options)
	if err != nil {
		tree.Free()
		return nil, err
	}
	tree.FreeOrder()
	return &Dominators{g: g, tree: tree, retained: retained}, nil
}

func (d *Dominators) free() {
	d.tree.Free()
	d.retained.Free()
	forget(&d.children, (*digraph.Children).Free)
}

// Garbage returns the node that is the immediate dominator of dead objects without a dominating dead object. It is not
// a node of the graph.
func (d *Dominators) Garbage() Node { return Node(d.g.Nodes()) }

// Idom returns the immediate dominator of n: the object or Source without which n would not be alive. It is n itself
// for the root and for Garbage, and Garbage for dead objects without a dominating dead object.
func (d *Dominators) Idom(n Node) Node {
	if d.tree == nil {
		return NoNode
	}
	if int(n) >= len(d.tree.Idom) {
		return NoNode
	}
	return d.tree.Idom[n]
}

// Retained returns the retained size of n in bytes: the size of all objects that n dominates, including n. It is the
// size of all live objects for the root, and of all dead objects for Garbage.
func (d *Dominators) Retained(n Node) uint64 {
	if int(n) >= d.retained.Len() {
		return 0
	}
	return d.retained.At(n)
}

// Children returns the nodes that n immediately dominates, in order. The first call computes about 1 byte per node.
func (d *Dominators) Children(ctx context.Context, n Node) ([]Node, error) {
	return d.AppendChildren(ctx, nil, n)
}

// AppendChildren appends the nodes that n immediately dominates to a list, in order.
func (d *Dominators) AppendChildren(ctx context.Context, list []Node, n Node) ([]Node, error) {
	c, err := d.allChildren(ctx)
	if err != nil {
		return nil, err
	}
	if int(n) > d.g.Nodes() {
		return list, nil
	}
	return c.Append(list, n), nil
}

func (d *Dominators) allChildren(ctx context.Context) (*digraph.Children, error) {
	return d.children.GetContext(ctx, func(ctx context.Context) (*digraph.Children, error) {
		return using(ctx, d.g, func(ctx context.Context) (*digraph.Children, error) {
			return d.tree.Children(ctx, &d.g.rows, d.g.lazy.options)
		})
	})
}

// bySize orders nodes by retained size, the largest first, and nodes of equal size by number.
func (d *Dominators) bySize(a, b Node) int {
	return cmp.Or(cmp.Compare(d.Retained(b), d.Retained(a)), cmp.Compare(a, b))
}

// Largest returns the children of n with the largest retained sizes, at most most, ordered by size and then by node.
// others is the number of the other children, and size their retained size.
func (d *Dominators) Largest(ctx context.Context, n Node, most int) (top []Node, others int, size uint64, err error) {
	children, err := d.Children(ctx, n)
	if err != nil {
		return nil, 0, 0, err
	}
	order := d.bySize
	top = make([]Node, 0, min(most, len(children)))
	for _, c := range children {
		size += d.Retained(c)
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
		size -= d.Retained(c)
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

// sumByClass sums retained sizes by class over the topmost objects of each class in one part of the heap.
func sumByClass[C uint8 | uint16 | uint32](ctx context.Context, d *Dominators, p Part, classes []C, count int) ([]uint64, error) {
	children, err := d.allChildren(ctx)
	if err != nil {
		return nil, err
	}
	top := d.g.Root()
	if p == PartDead {
		top = d.Garbage()
	}
	return digraph.SumByClass(ctx, children, top, classes, count, d.retained, d.g.lazy.options)
}

// ByType returns the size that the objects of each type retain together, by TypeIndex. It sums over the objects that no
// object of the same type dominates.
func (d *Dominators) ByType(ctx context.Context, p Part) ([]uint64, error) {
	return using(ctx, d.g, func(ctx context.Context) ([]uint64, error) {
		if len(d.g.rare) == 0 {
			return sumByClass(ctx, d, p, d.g.typ, len(d.g.types))
		}
		class := make([]uint32, len(d.g.types))
		for i := range class {
			class[i] = uint32(i)
		}
		return d.ByTypeClass(ctx, p, class, len(class))
	})
}

// ByTypeClass is ByType for classes of types, such as assemblies or namespaces. class holds the class of each type,
// from 0 to count-1, by TypeIndex.
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
		return sumByClass(ctx, d, p, classes, count)
	})
}

// ByGeneration returns the size that the objects of each heap.Generation retain together, as ByType does.
func (d *Dominators) ByGeneration(ctx context.Context, p Part) ([]uint64, error) {
	return using(ctx, d.g, func(ctx context.Context) ([]uint64, error) {
		array, err := d.g.byGeneration(ctx)
		if err != nil {
			return nil, err
		}
		defer array.Free()
		return sumByClass(ctx, d, p, array.Slice(), int(heap.GenerationUnknown)+1)
	})
}

type generationRun struct {
	from, to Node
	gen      heap.Generation
}

// generationRuns returns the runs of objects of one generation, in order. A generation is contiguous in a segment.
func (g *Graph) generationRuns(ctx context.Context) ([]generationRun, error) {
	var runs []generationRun
	last := Node(0)
	segments := g.h.Segments()
	for i := range segments {
		s := &segments[i]
		from := max(last, g.index.firstFrom(s.Objects.Start))
		to := g.index.firstFrom(s.Objects.End)
		for from < to {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			gen := s.Generation(g.Address(from))
			end := to
			if s.Kind == heap.KindEphemeral {
				for _, cut := range [...]target.Addr{s.Gen1.Start, s.Gen0.Start, s.Gen0.End} {
					if at := g.index.firstFrom(cut); at > from {
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
			gen, end := heap.GenerationUnknown, to // after the last segment
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
