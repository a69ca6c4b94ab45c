package graph

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/enum"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// An EdgeKind is how a node refers to another.
type EdgeKind uint8

// The kinds.
const (
	EdgeField           EdgeKind = iota // a field or an element
	EdgeStatic                          // a static field: from a table to the Source of the field
	EdgeDependent                       // a dependent handle: an entry of a ConditionalWeakTable
	EdgeLoaderAllocator                 // the object's type, which can be unloaded
	EdgeRoot                            // from a Source to an object
	EdgeGroup                           // from a Source to one that depends on it
)

var edgeNames = [...]answer.EdgeKind{answer.EdgeField, answer.EdgeStatic, answer.EdgeDependent, answer.EdgeAllocator, "root", "group"}

// String returns the kind in words.
func (k EdgeKind) String() string { return enum.Name(edgeNames[:], k, "EdgeKind") }

// An Edge is one of possibly several references of a node to another.
type Edge struct {
	Kind EdgeKind
	// Slot is the place of the reference: in the object, the handle, the word of the stack; 0 for other kinds.
	Slot target.Addr
	// Name is its name in a path: "_items", "[3]", "_entries[5].value", "(static) Cache.s_all", "(dependent handle)",
	// "(loader allocator)". It is empty for edges of Sources.
	Name string
	// Local names the AsyncLocal with the value that the edge leads to, by the static field that refers to it. It
	// is empty for all other edges.
	Local string
	Root  RootRef // for EdgeRoot
}

// Names returns the names of edges. It reads the object on each call. It is safe for concurrent use.
type Names struct {
	g *Graph
	r *objects.Reader

	once    sync.Once
	caches  []bool // by type
	statics struct {
		once sync.Once
		of   map[Node]*Source // a static field that refers to the object
	}
}

// Names returns the names of g's edges. r reads the objects of the same runtime.
func (g *Graph) Names(r *objects.Reader) *Names { return &Names{g: g, r: r} }

// Edges returns the references of from to to, at most most, in memory order. If parts of from are unreadable, it also
// returns an error.
func (x *Names) Edges(ctx context.Context, from, to Node, most int) ([]Edge, error) {
	if !x.g.IsObject(from) {
		return x.g.rootEdges(from, to, most), nil
	}
	if s := x.g.Source(to); s != nil {
		name, err := x.Source(to)
		return []Edge{{Kind: EdgeStatic, Slot: s.Slot, Name: "(static) " + name}}, err
	}
	o, err := x.g.Object(from)
	if err != nil {
		return nil, err
	}
	list, err := x.storedEdges(ctx, &o, to, most)
	at := x.g.Address(to)
	for _, p := range x.g.dependents(o.Addr) {
		if p.Secondary == at && len(list) < most {
			list = append(list, Edge{Kind: EdgeDependent, Slot: p.Handle, Name: "(dependent handle)"})
		}
	}
	keeper, keeperErr := x.g.h.Edges(heap.EdgeOptions{}).LoaderAllocator(&o)
	if keeperErr == nil && keeper == at && len(list) < most {
		list = append(list, Edge{Kind: EdgeLoaderAllocator, Name: "(loader allocator)"})
	}
	return list, errors.Join(err, keeperErr)
}

// storedEdges returns the references in the memory of o.
func (x *Names) storedEdges(ctx context.Context, o *heap.Object, to Node, most int) (list []Edge, err error) {
	at := x.g.Address(to)
	edges := x.g.h.Edges(heap.EdgeOptions{})
	var named objects.Object
	for from, more := uint64(0), true; more && from < o.Size && len(list) < most; from += pieceSize {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		more = edges.Slots(o, at, from, min(from+pieceSize, o.Size+7), func(off uint64) bool {
			slot := o.Addr + target.Addr(off)
			if _, static := x.g.fields[slot]; static {
				return true
			}
			if named.Type == nil {
				named, err = x.r.Of(*o)
			}
			e := Edge{Kind: EdgeField, Slot: slot, Name: named.SlotName(off)}
			if local, ok := asyncLocal(x.r, named, e.Name, e.Slot); ok {
				e.Local = x.byStatic(local)
			}
			if e.Local != "" {
				e.Name += " (AsyncLocal " + e.Local + ")"
			}
			list = append(list, e)
			return len(list) < most
		})
	}
	return list, err
}

// byStatic names an object by a static field that refers to it, or else by its type and address. The name is empty if
// neither can be read.
func (x *Names) byStatic(o objects.Object) string {
	x.statics.once.Do(func() {
		x.statics.of = map[Node]*Source{}
		for i := range x.g.sources {
			s := &x.g.sources[i]
			if s.Static == nil || s.Thread != nil {
				continue
			}
			for r := range x.g.RootRefs(x.g.SourceNode(i)) {
				x.statics.of[r.Object] = s
			}
		}
	})
	if n, ok := x.g.Node(o.Addr); ok && x.statics.of[n] != nil {
		if name, err := x.statics.of[n].Static.Name(); err == nil && name != "" {
			return name
		}
	}
	name, err := o.Type.ManagedName()
	if err != nil {
		return ""
	}
	return name + " " + o.Addr.String()
}

// Name returns the name of the first reference of from to to. It is empty for edges of Sources.
func (x *Names) Name(ctx context.Context, from, to Node) (string, error) {
	list, err := x.Edges(ctx, from, to, 1)
	if len(list) == 0 {
		return "", err
	}
	return list[0].Name, nil
}

// rootEdges returns the references of the Source from to to.
func (g *Graph) rootEdges(from, to Node, most int) []Edge {
	if !g.IsObject(to) {
		return []Edge{{Kind: EdgeGroup}}
	}
	var list []Edge
	for r := range g.RootRefs(from) {
		if r.Object == to && len(list) < most {
			list = append(list, Edge{Kind: EdgeRoot, Slot: r.Slot, Root: r})
		}
	}
	return list
}

// Source returns the name of a Source: a frame's method, or a field with its class.
func (x *Names) Source(n Node) (string, error) {
	s := x.g.Source(n)
	switch {
	case s == nil:
		return "", target.Unsupportedf("an object is not a Source of roots")
	case s.Name != "":
		return s.Name, nil
	case s.Static != nil:
		return s.Static.Name()
	case s.Frame != nil:
		return x.frame(s.Frame)
	case s.Thread != nil:
		return fmt.Sprintf("thread %#x", s.Thread.ID()), nil
	case s.Kind == SourceHandles:
		return s.Handle.Words(), nil
	}
	return s.Kind.String(), nil
}

// Text returns the name of a Source. For a static field without a readable name, it returns the name of the declaring
// type.
func (x *Names) Text(g *answer.Gaps, n Node) answer.Text {
	text := g.Text(x.Source(n))
	if s := x.g.Source(n); text.Err != nil && s != nil && s.Static != nil {
		text.Instead = "a field of " + x.r.Runtime().NamelessType(s.Static.Field.Declaring.MT.Addr)
	}
	return text
}

func (x *Names) frame(f *RootFrame) (string, error) {
	switch {
	case f.Explicit != "":
		return f.Explicit, nil
	case f.Method == nil:
		return fmt.Sprintf("%#x", uint64(f.IP)), nil
	}
	return dac.CodeOf(x.r.Runtime()).MethodName(f.Method, dac.MethodFull)
}

// Object reads an object as a heap walk does.
func (g *Graph) Object(n Node) (heap.Object, error) {
	if !g.IsObject(n) {
		return heap.Object{}, target.Unsupportedf("a Source of roots is not an object")
	}
	return g.h.ObjectAt(g.Address(n))
}

// dependents returns the dependent handles with the primary object at a.
func (g *Graph) dependents(a target.Addr) []Dependent {
	i, j := dependentsOf(g.pairs, a)
	return g.pairs[i:j]
}
