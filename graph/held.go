package graph

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// KeepOptions choose the form of what objects keep alive.
type KeepOptions struct {
	OnlyStatistics bool // no list of objects
	// Strings lists only strings, and counts them by what they say.
	Strings bool
	Scan    heap.ScanOptions // of Strings
	// Retained asks for what would be free without the object.
	Retained bool
}

// KeptBy is what an object keeps alive, itself included: all that can be reached from it, whatever else keeps it
// alive too. The objects come in the order in which they are met, breadth first, as in SOS; strings by address.
func (x *Holders) KeptBy(ctx context.Context, a target.Addr, o KeepOptions) (*answer.Closure, error) {
	used, done, err := x.g.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	n, err := x.Object(a)
	if err != nil {
		return nil, err
	}
	out := &answer.Closure{}
	if o.Retained {
		if out.Retained, err = x.retained(ctx, n); err != nil {
			return nil, err
		}
	}
	object := x.object(&out.Gaps, n)
	out.Object = &object
	return out, x.keep(used, ctx, out, func(yield func(Node) bool) { yield(n) }, o)
}

// KeptByType is what all objects of a type keep alive together, as KeptBy says it.
func (x *Holders) KeptByType(ctx context.Context, mt target.Addr, o KeepOptions) (*answer.Closure, error) {
	used, done, err := x.g.Use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if _, err := x.rt.TrustedMethodTable(mt); err != nil {
		return nil, err
	}
	out := &answer.Closure{Of: &answer.TypeCount{MethodTable: mt}}
	out.Of.Type = x.rt.NamedType(&out.Gaps, mt)
	return out, x.keep(used, ctx, out, func(yield func(Node) bool) {
		for n := range Node(x.g.objects) {
			if x.g.Type(n).Addr != mt {
				continue
			}
			out.Of.Count++
			out.Of.Size += x.g.Size(n)
			if !yield(n) {
				return
			}
		}
	}, o)
}

// keep finds what can be reached, while the graph is used. later is for what the answer reads when it is written.
func (x *Holders) keep(ctx, later context.Context, out *answer.Closure, from iter.Seq[Node], o KeepOptions) error {
	nodes, in, err := x.reached(ctx, from)
	if err != nil {
		return err
	}
	out.NoteAll(x.g.stats.Warnings())
	if o.Strings {
		f := &heap.Filter{Start: func(a target.Addr) bool {
			n, ok := x.g.Node(a)
			return ok && in.Has(n)
		}}
		list := heap.ListOptions{Filter: f, Scan: o.Scan}
		noted := out.Gaps
		if o.OnlyStatistics {
			out.Listing = *x.g.h.CountStrings(later, list)
		} else {
			out.Listing = *x.g.h.ListStrings(later, list)
		}
		out.NoteAll(noted.Noted())
		return nil
	}
	out.Statistics = x.statistics(&out.Gaps, nodes)
	if !o.OnlyStatistics {
		out.Objects = x.g.h.ListOf(later, func(yield func(target.Addr) bool) {
			_, done, err := x.g.Use(later)
			if err != nil {
				return
			}
			defer done()
			for _, n := range nodes {
				if !yield(x.g.Address(n)) {
					return
				}
			}
		})
	}
	return nil
}

// reached are the objects that can be reached from others, breadth first from each of these that was not reached before.
func (x *Holders) reached(ctx context.Context, from iter.Seq[Node]) ([]Node, *Set, error) {
	rows, seen := x.g.memoryRows(true), x.g.NewSet()
	var nodes []Node
	left := searchStep
	for start := range from {
		if !seen.Add(start) {
			continue
		}
		at := len(nodes)
		for nodes = append(nodes, start); at < len(nodes); at++ {
			if left--; left == 0 {
				left = searchStep
				if err := ctx.Err(); err != nil {
					return nil, nil, err
				}
			}
			for _, to := range rows.of(nodes[at]) {
				if seen.Add(to) {
					nodes = append(nodes, to)
				}
			}
		}
	}
	return nodes, seen, ctx.Err()
}

// statistics counts objects by type, the types with most bytes last; of equal ones the first that was met comes first.
func (x *Holders) statistics(g *answer.Gaps, nodes []Node) *answer.Statistics {
	out := &answer.Statistics{Types: []answer.TypeCount{}}
	index := make([]int, len(x.g.types)) // in out.Types, + 1
	for _, n := range nodes {
		i := &index[x.g.TypeIndex(n)]
		if *i == 0 {
			mt := x.g.Type(n).Addr
			out.Types = append(out.Types, answer.TypeCount{MethodTable: mt, Type: x.rt.NamedType(g, mt)})
			*i = len(out.Types)
		}
		t, size := &out.Types[*i-1], x.g.Size(n)
		t.Count++
		t.Size += size
		out.Count++
		out.Size += size
	}
	out.SortBySize()
	return out
}
