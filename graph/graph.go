package graph

import (
	"context"
	"iter"
	"math"
	"math/bits"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/inuse"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/target"
)

// A Node is an object, or a Source, which keeps objects alive from outside of the heap. Objects have the numbers from 0
// on, in the order of addresses. Sources follow in the order of Build's input. The last node is the root; all other
// Sources depend on it.
type Node = uint32

// NoNode is the absence of a node.
const NoNode Node = digraph.None

// A Graph holds the objects of a heap, their references, and what keeps them alive. It does not change after Build. Its
// methods are safe for concurrent use until Close. A method that takes a context may run while another goroutine calls
// Close. All other methods must run between Use and its done, or when nothing calls Close, because Close frees the
// memory immediately.
type Graph struct {
	h       *heap.Heap
	budget  *offheap.Budget
	index   *index
	objects int

	arrays arrays
	rows   digraph.Graph // arrays.offsets and arrays.targets
	size   []uint32      // arrays.sizes: bytes, or hugeSize
	typ    []uint16      // arrays.types and arrays.rare: index in types
	rare   []uint8
	huge   map[Node]uint64
	types  []*dac.MethodTable

	sources   []Source
	slots     []target.Addr // of the edges of Sources, from slotsFrom on
	refs      []uint32
	kept      []Root // by refs - 1
	slotsFrom uint32
	fields    map[target.Addr]Node // static fields by slot
	tables    map[Node][]Node      // static fields by the object that contains them without keeping them alive
	pairs     []Dependent          // by Primary, which is an object

	stats Stats
	lazy  lazies
	store *kept // nil if no files are kept
	users *inuse.Gate
}

// hugeSize stands for a size in Graph.huge.
const hugeSize = math.MaxUint32

// Close frees all memory. It cancels methods with a context and the contexts of Use, and waits for them. Afterwards the
// graph is empty; earlier nodes and slices are invalid.
func (g *Graph) Close() {
	if !g.users.Close() {
		return
	}
	g.lazy.free()
	g.index.free()
	g.arrays.free()
	g.store.close()
	g.forget()
}

// Heap returns the heap with the objects of the graph.
func (g *Graph) Heap() *heap.Heap { return g.h }

// Objects returns the number of objects. Nodes with a smaller number are objects.
func (g *Graph) Objects() int { return g.objects }

// Nodes returns the number of all nodes.
func (g *Graph) Nodes() int { return g.objects + len(g.sources) + 1 }

// Edges returns the number of edges.
func (g *Graph) Edges() int { return g.rows.Edges() }

// Root returns the root, which reaches all live nodes.
func (g *Graph) Root() Node { return Node(g.objects + len(g.sources)) }

// IsObject reports whether n is an object, as opposed to a Source.
func (g *Graph) IsObject(n Node) bool { return int(n) < g.objects }

// Source returns the Source of node n, or nil for an object.
func (g *Graph) Source(n Node) *Source {
	switch i := int(n) - g.objects; {
	case i < 0 || i > len(g.sources):
		return nil
	case i == len(g.sources):
		return &Source{Kind: SourceRoot, Parent: UnderRoot}
	default:
		return &g.sources[i]
	}
}

// SourceNode returns the node of the Source with an index in Build's input.
func (g *Graph) SourceNode(i int) Node { return Node(g.objects + i) }

// Node returns the object that starts at a. Free blocks are not objects.
func (g *Graph) Node(a target.Addr) (Node, bool) { return g.index.find(a) }

// Containing returns the object that contains address a.
func (g *Graph) Containing(a target.Addr) (Node, bool) {
	n, ok := g.index.lastAt(a)
	if !ok || uint64(a-g.Address(n)) >= (g.Size(n)+7)&^7 {
		return NoNode, false
	}
	return n, true
}

// Address returns the start of an object, or 0 for a Source.
func (g *Graph) Address(n Node) target.Addr {
	if !g.IsObject(n) {
		return 0
	}
	return g.index.address(g.index.granuleOf(n))
}

// Addresses appends the starts of the objects from from up to to to dst. It takes a tenth of the time of Address.
func (g *Graph) Addresses(dst []target.Addr, from, to Node) []target.Addr {
	return g.index.appendAddresses(dst, from, min(to, Node(g.objects)))
}

// Size returns the size of an object in bytes, as in SOS: not rounded up. The size of a Source is 0.
func (g *Graph) Size(n Node) uint64 {
	if !g.IsObject(n) {
		return 0
	}
	if s := g.size[n]; s != hugeSize {
		return uint64(s)
	}
	return g.huge[n]
}

// Type returns the type of an object, or nil for a Source.
func (g *Graph) Type(n Node) *dac.MethodTable {
	if !g.IsObject(n) {
		return nil
	}
	return g.types[g.TypeIndex(n)]
}

// TypeIndex returns the index in Types of an object's type, or -1 for a Source and for a node of another graph.
func (g *Graph) TypeIndex(n Node) int {
	if int(n) >= len(g.typ) {
		return -1
	}
	if len(g.rare) > 0 {
		return int(g.typ[n]) | int(g.rare[n])<<16
	}
	return int(g.typ[n])
}

// Types returns the types of all objects, in the order of their first objects. The slice belongs to the graph.
func (g *Graph) Types() []*dac.MethodTable { return g.types }

// Generation returns the generation of an object.
func (g *Graph) Generation(n Node) heap.Generation {
	a := g.Address(n)
	if s := g.h.Segment(a); s != nil {
		return s.Generation(a)
	}
	return heap.GenerationUnknown
}

// Referents returns the nodes that n refers to, each as often as n refers to it. For an object these are the references
// in memory order, then the references of dependent handles, then the LoaderAllocator of its type. For a Source these
// are Sources, then objects. The slice belongs to the graph.
func (g *Graph) Referents(n Node) []Node {
	if int(n) >= g.rows.Nodes() {
		return nil
	}
	return g.rows.Row(n)
}

// Statics returns the static fields with values in the object n, a table of the runtime, that depend on SourceStatics
// or a thread. The object refers to the values but has no edges to them. The order is as in RootsOf. The slice
// belongs to the graph.
func (g *Graph) Statics(n Node) []Node { return g.tables[n] }

// A RootRef is one of the references of a Source.
type RootRef struct {
	Object Node
	Slot   target.Addr // place of the reference: the handle, a word of the stack; 0 for a register
	ref    uint32
}

// RootRefs iterates over the references of the Source n to objects.
func (g *Graph) RootRefs(n Node) iter.Seq[RootRef] {
	return func(yield func(RootRef) bool) {
		if g.IsObject(n) || int(n) >= len(g.rows.Offsets) {
			return
		}
		from := g.rows.Offsets[n] - g.slotsFrom
		for i, to := range g.Referents(n) {
			k := from + uint32(i)
			if g.IsObject(to) && !yield(RootRef{to, g.slots[k], g.refs[k]}) {
				return
			}
		}
	}
}

// RootOf returns the root of a Source's reference, for RootReader.Describe. It reports false if Build did not get the
// root.
func (g *Graph) RootOf(n Node, r RootRef) (Root, bool) {
	if r.ref > 0 && int(r.ref) <= len(g.kept) {
		return g.kept[r.ref-1], true
	}
	a := g.Address(r.Object)
	out := Root{Object: a, Value: a, Address: r.Slot}
	switch s := g.Source(n); s.Kind {
	case SourceHandles:
		out.Kind, out.Handle = RootHandle, s.Handle
		out.Pinned = s.Handle == heap.HandlePinned || s.Handle == heap.HandleAsyncPinned
	case SourceFinalizer:
		out.Kind = RootFinalizer
	case SourceThread:
		out.Kind, out.Thread = RootThreadStatics, s.Thread
	default:
		return Root{}, false
	}
	return out, true
}

// Unproved returns the number of roots that only look like references: words of stacks without readable GC info, or of
// a process with a conservative collector.
func (g *Graph) Unproved() int {
	n := 0
	for i := range g.kept {
		if g.kept[i].Conservative {
			n++
		}
	}
	return n
}

// Stats returns the counts made by Build.
func (g *Graph) Stats() *Stats { return &g.stats }

// Memory returns the number of bytes that count against the limit of g's memory now, and their maximum so far. Graphs of
// one process.Dump share the limit.
func (g *Graph) Memory() (now, peak int64) { return g.budget.InUse(), g.budget.Peak() }

// Use prevents Close from freeing memory until done is called. Until then, the methods of g and of computed data can be
// used. The returned context is cancelled when Close is called, which waits for done. The error is
// target.ErrClosed if g is closed. Methods that take a context call Use themselves.
func (g *Graph) Use(ctx context.Context) (used context.Context, done func(), err error) {
	return g.users.Use(ctx)
}

// forget makes g empty when its memory has been freed. Later calls of methods find nothing.
func (g *Graph) forget() {
	g.index, g.objects, g.arrays, g.rows = &index{}, 0, arrays{}, digraph.Graph{Offsets: []uint32{0, 0}}
	g.size, g.typ, g.rare, g.huge = nil, nil, nil, nil
	g.sources, g.tables, g.fields, g.pairs = nil, nil, nil, nil
	g.slots, g.refs, g.slotsFrom = nil, nil, 0
}

// using calls f while g can't be closed, and returns its results. The context of f is also cancelled by Close.
func using[T any](ctx context.Context, g *Graph, f func(ctx context.Context) (T, error)) (T, error) {
	ctx, done, err := g.Use(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer done()
	return f(ctx)
}

// Common calls f for the objects of two graphs at equal addresses: n of g, m of other. It compares bits, without
// walking a heap. Several goroutines call f, each with its own result of create. Common fails only with the error of
// ctx.
func Common[T any](ctx context.Context, g, other *Graph, create func() T, f func(with T, n, m Node)) error {
	x, y := g.index, other.index
	return parallel(ctx, g.lazy.options.Workers, int(x.chunks), numberPiece/chunkGranules, create, func(with T, from, to int) {
		for c := uint64(from); c < uint64(to); c++ {
			at, ok := y.granule(uint64(x.address(c * chunkGranules)))
			if !ok {
				continue
			}
			there := y.words[at>>6:][:chunkWords]
			for i, word := range x.words[c*chunkWords:][:chunkWords] {
				for both := word & there[i]; both != 0; both &= both - 1 {
					bit := uint64(i*64 + bits.TrailingZeros64(both))
					n, _ := x.rank(c*chunkGranules + bit)
					m, _ := y.rank(at + bit)
					f(with, n, m)
				}
			}
		}
	})
}
