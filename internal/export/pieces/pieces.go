// Package pieces holds what the encoders of formats share: the object graph of a heap in the order of nodes, cut into
// pieces for several workers, with names for other tools. Start at Heap and InOrder.
//
// The bytes that encoders write do not depend on the number of workers. Names come from the dump and may be hostile: each
// format escapes or encodes them.
package pieces

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Heap is the input of exports of the heap.
type Heap struct {
	Graph   *graph.Graph
	Objects *objects.Reader // of the same runtime; for names of types and fields
	Jobs    int             // number of workers; 0 for one
	// Mask, if not nil, replaces secrets in names.
	Mask func(string) string
}

// Masked returns a name without secrets.
func (h *Heap) Masked(name string) string {
	if h.Mask == nil {
		return name
	}
	return h.Mask(name)
}

// A Type is a type of the graph with its names for other tools.
type Type struct {
	*dac.MethodTable
	// Name is the full name in C# syntax, or a description if it is unreadable.
	Name     string
	Assembly string // simple name; "" if unreadable
	Path     string // path of the module's file in the process; "" if unreadable or missing
	Err      error  // why Name is a description
}

// Types returns the types of all objects by graph.Graph's TypeIndex. It notes unreadable parts in g.
func (h *Heap) Types(g *answer.Gaps) []Type {
	rt := h.Objects.Runtime()
	list := h.Graph.Types()
	out := make([]Type, len(list))
	paths := map[target.Addr]string{}
	for i, mt := range list {
		t := &out[i]
		name := rt.NamedType(g, mt.Addr)
		t.MethodTable, t.Name, t.Err = mt, name.S, name.Err
		if name.Err != nil {
			t.Name = name.Instead
		}
		t.Assembly, _ = rt.TypeAssembly(mt.Addr) // "" if unreadable
		path, known := paths[mt.Module]
		if !known {
			if m, err := rt.TrustedModule(mt.Module); err == nil {
				path, _ = m.Path()
			}
			paths[mt.Module] = path
		}
		t.Path = path
	}
	return out
}

// Use keeps the graph open until done is called; see graph.Graph.Use.
func (h *Heap) Use(ctx context.Context) (used context.Context, done func(), err error) {
	return h.Graph.Use(ctx)
}

const pieceNodes = 1 << 17

// A Piece is a run of consecutive objects. It is for one goroutine.
type Piece struct {
	Index     int // 0 for the first piece
	From, To  graph.Node
	Addresses []target.Addr

	g       *graph.Graph
	h       *heap.Heap
	segment *heap.Segment
}

// Address returns the address of an object of the piece.
func (p *Piece) Address(n graph.Node) target.Addr {
	if n < p.From || int(n-p.From) >= len(p.Addresses) {
		return 0
	}
	return p.Addresses[n-p.From]
}

// Near returns the address of any object. It is fast for objects of the piece.
func (p *Piece) Near(n graph.Node) target.Addr {
	if n >= p.From && n < p.To {
		return p.Address(n)
	}
	return p.g.Address(n)
}

// Generation returns the generation of an object of the piece. It is fast for objects in their order.
func (p *Piece) Generation(n graph.Node) heap.Generation {
	a := p.Address(n)
	if p.segment == nil || !p.segment.Objects.Contains(a) {
		if p.segment = p.h.Segment(a); p.segment == nil {
			return heap.GenerationUnknown
		}
	}
	return p.segment.Generation(a)
}

// InOrder calls produce for all objects in pieces, on several workers, and take with the results in order; see
// workers.Ordered. A piece is valid during the call.
func InOrder[S, T any](ctx context.Context, h *Heap, state func() S, produce func(s S, p *Piece, reuse T) (T, error), take func(T) error) error {
	n := (h.Graph.Objects() + pieceNodes - 1) / pieceNodes
	type own struct {
		s S
		p Piece
	}
	return workers.Ordered(ctx, h.Jobs, n, func() *own { return &own{state(), Piece{g: h.Graph, h: h.Graph.Heap()}} }, func(o *own, piece int, reuse T) (T, error) {
		p := &o.p
		p.Index = piece
		p.From = graph.Node(piece * pieceNodes)
		p.To = min(p.From+pieceNodes, graph.Node(h.Graph.Objects()))
		p.Addresses = h.Graph.Addresses(p.Addresses[:0], p.From, p.To)
		return produce(o.s, p, reuse)
	}, take)
}

// None returns the state of workers without state.
func None() struct{} { return struct{}{} }
