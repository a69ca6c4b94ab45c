package graph

import (
	"iter"
	"math"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph/roots"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/digraph"
	"github.com/sosgo/sosgo/internal/inuse"
	"github.com/sosgo/sosgo/internal/offheap"
	"github.com/sosgo/sosgo/target"
)

// A Node is an object, or a Source: something that keeps objects alive from outside
// of the heap. Objects are numbered from 0 in the order of their addresses, behind
// them come the Sources in the order in which Build got them, and last the root, on
// which all other Sources hang.
type Node = uint32

// NoNode is none.
const NoNode Node = digraph.None

// A Graph is the objects of a heap, what keeps them alive, and who refers to whom.
// It is made by Build and does not change: its methods are for any number of
// goroutines, until Close. What takes a context may be asked while another goroutine closes; all else (a node, a row,
// what was computed before) only between Use and its done, or by who knows that nobody closes: the memory is gone at once.
type Graph struct {
	h       *heap.Heap
	budget  *offheap.Budget
	index   *index
	objects int

	arrays arrays
	rows   digraph.Graph // of arrays.offsets and arrays.targets
	size   []uint32      // of arrays.sizes: bytes, hugeSize where there are more
	typ    []uint16      // of arrays.types and arrays.rare: index in types
	rare   []uint8
	huge   map[Node]uint64
	types  []*dac.MethodTable

	sources   []Source
	slots     []target.Addr // of the edges from Sources, from slotsFrom on
	refs      []uint32
	kept      []roots.Root // by refs - 1
	slotsFrom uint32
	fields    map[target.Addr]Node // static fields by slot
	tables    map[Node][]Node      // the static fields in an object that don't hang on it
	pairs     []Dependent          // by Primary, those of objects

	stats Stats
	lazy  lazies
	store *kept // nil if nothing is kept
	users *inuse.Gate
}

// hugeSize stands for a size that is in Graph.huge.
const hugeSize = math.MaxUint32

// Close gives all memory back. Whoever is at work with the graph is stopped with an error, and waited for: what takes a context,
// and what is between Use and its done. Behind it the graph has no objects; a node or a slice that it gave before means nothing any more.
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

// Heap is the heap whose objects the graph has.
func (g *Graph) Heap() *heap.Heap { return g.h }

// Objects is the number of objects: their nodes are those below it.
func (g *Graph) Objects() int { return g.objects }

// Nodes is the number of all nodes.
func (g *Graph) Nodes() int { return g.objects + len(g.sources) + 1 }

// Edges is the number of edges.
func (g *Graph) Edges() int { return g.rows.Edges() }

// Root is the node on which everything hangs that lives.
func (g *Graph) Root() Node { return Node(g.objects + len(g.sources)) }

// IsObject reports whether n is an object, and not a Source.
func (g *Graph) IsObject(n Node) bool { return int(n) < g.objects }

// Source is the Source that n is, nil for an object.
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

// SourceNode is the node of the Source that Build got at an index.
func (g *Graph) SourceNode(i int) Node { return Node(g.objects + i) }

// Node is the object that starts at a, as the walk of the heap found it: it is exact.
// A free block is no object.
func (g *Graph) Node(a target.Addr) (Node, bool) {
	n, ok := g.index.find(a)
	return Node(n), ok
}

// Containing is the object that starts at a or that a lies in.
func (g *Graph) Containing(a target.Addr) (Node, bool) {
	n, ok := g.index.last(a)
	if !ok || uint64(a-g.Address(Node(n))) >= (g.Size(Node(n))+7)&^7 {
		return NoNode, false
	}
	return Node(n), true
}

// Address is where an object starts, 0 for a Source.
func (g *Graph) Address(n Node) target.Addr {
	if !g.IsObject(n) {
		return 0
	}
	return g.index.address(g.index.selected(uint32(n)))
}

// Addresses appends to dst where the objects from from up to to start: a tenth of the time that Address takes for each of them.
func (g *Graph) Addresses(dst []target.Addr, from, to Node) []target.Addr {
	return g.index.appendAddresses(dst, from, min(to, Node(g.objects)))
}

// Size is the size of an object in bytes, as SOS counts them: not rounded up. That of
// a Source is 0.
func (g *Graph) Size(n Node) uint64 {
	if !g.IsObject(n) {
		return 0
	}
	if s := g.size[n]; s != hugeSize {
		return uint64(s)
	}
	return g.huge[n]
}

// Type is the type of an object, nil for a Source.
func (g *Graph) Type(n Node) *dac.MethodTable {
	if !g.IsObject(n) {
		return nil
	}
	return g.types[g.TypeIndex(n)]
}

// TypeIndex is the index in Types of the type of an object.
func (g *Graph) TypeIndex(n Node) int {
	if len(g.rare) > 0 {
		return int(g.typ[n]) | int(g.rare[n])<<16
	}
	return int(g.typ[n])
}

// Types are the types of all objects, in the order of their first ones.
func (g *Graph) Types() []*dac.MethodTable { return g.types }

// Segment is the segment of an object, nil for a Source.
func (g *Graph) Segment(n Node) *heap.Segment { return g.h.Segment(g.Address(n)) }

// Generation is the generation of an object.
func (g *Graph) Generation(n Node) heap.Generation {
	a := g.Address(n)
	if s := g.h.Segment(a); s != nil {
		return s.Generation(a)
	}
	return heap.GenerationUnknown
}

// Referents are the nodes that n refers to: those of an object in the order of its
// memory, each as often as it is there, then what dependent handles add, last the
// LoaderAllocator of its type. Those of a Source are Sources, then objects. The slice is
// the graph's own.
func (g *Graph) Referents(n Node) []Node {
	if int(n) >= g.rows.Nodes() {
		return nil
	}
	return g.rows.Row(n)
}

// Statics are the static fields whose values are in the object n, a table of the runtime's, and
// which hang on SourceStatics or a thread: the object refers to their values too, though it has no edges
// to them. The order is that of RootsOf.
func (g *Graph) Statics(n Node) []Node { return g.tables[n] }

// A RootRef is one of the references that a Source holds.
type RootRef struct {
	Object Node
	Slot   target.Addr // where it is: the handle, a word of the stack; 0 for a register
	ref    uint32
}

// RootRefs iterates over the references to objects that the Source n holds itself.
func (g *Graph) RootRefs(n Node) iter.Seq[RootRef] {
	return func(yield func(RootRef) bool) {
		if g.IsObject(n) {
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

// RootOf is the root that a reference of the Source n is, for roots.Reader.Describe. It reports
// false if Build was told none.
func (g *Graph) RootOf(n Node, r RootRef) (roots.Root, bool) {
	if r.ref > 0 && int(r.ref) <= len(g.kept) {
		return g.kept[r.ref-1], true
	}
	a := g.Address(r.Object)
	out := roots.Root{Object: a, Value: a, Address: r.Slot}
	switch s := g.Source(n); s.Kind {
	case SourceHandles:
		out.Kind, out.Handle = roots.KindHandle, s.Handle
		out.Pinned = s.Handle == heap.HandlePinned || s.Handle == heap.HandleAsyncPinned
	case SourceFinalizer:
		out.Kind = roots.KindFinalizer
	case SourceThread:
		out.Kind, out.Thread = roots.KindThreadStatics, s.Thread
	default:
		return roots.Root{}, false
	}
	return out, true
}

// Stats tell what Build met.
func (g *Graph) Stats() *Stats { return &g.stats }

// Memory is how many bytes the graph takes now, and took at most, beside the dump.
func (g *Graph) Memory() (now, peak int64) { return g.budget.InUse(), g.budget.Peak() }
