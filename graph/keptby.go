package graph

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// KeepOptions selects the parts of an answer about reachable objects.
type KeepOptions struct {
	OnlyStatistics bool             `opt:"stat,summary" help:"only the statistics"`
	Retained       bool             `opt:"retained" excludes:"mt" help:"for one object: also the part that nothing else keeps alive"`
	Strings        bool             `opt:"strings" help:"only strings, counted by their content"`
	Scan           heap.ScanOptions // for Strings
}

// KeptBy returns what an object keeps alive, including itself: everything reachable from it, even if something else
// also keeps it alive. Objects are in breadth-first order, as in SOS, and strings in the order of addresses.
func (x *Holders) KeptBy(ctx context.Context, a target.Addr, o KeepOptions) (*answer.Closure, error) {
	return using(ctx, x.g, func(used context.Context) (*answer.Closure, error) {
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
	})
}

// KeptByType returns what all objects of a type keep alive together, as KeptBy does.
func (x *Holders) KeptByType(ctx context.Context, mt target.Addr, o KeepOptions) (*answer.Closure, error) {
	return using(ctx, x.g, func(used context.Context) (*answer.Closure, error) {
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
	})
}

// keep finds the reachable objects while the graph is in use. later is the context for reads while the answer is
// written.
func (x *Holders) keep(ctx, later context.Context, out *answer.Closure, from iter.Seq[Node], o KeepOptions) error {
	nodes, in, err := x.reachable(ctx, from)
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
		if o.OnlyStatistics {
			x.g.h.AddStringCounts(later, &out.Listing, list)
		} else {
			x.g.h.AddStrings(later, &out.Listing, list)
		}
		return nil
	}
	out.Statistics = x.statistics(&out.Gaps, nodes)
	if !o.OnlyStatistics {
		out.Objects = x.g.h.ListOf(later, &out.Gaps, func(yield func(target.Addr) bool) error {
			_, done, err := x.g.Use(later)
			if err != nil {
				return err
			}
			defer done()
			for _, n := range nodes {
				if !yield(x.g.Address(n)) {
					break
				}
			}
			return nil
		})
	}
	return nil
}

// reachable returns the objects reachable from others, breadth first from each start that was not reached before.
func (x *Holders) reachable(ctx context.Context, from iter.Seq[Node]) ([]Node, *Set, error) {
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
			for _, to := range rows.rowOf(nodes[at]) {
				if seen.Add(to) {
					nodes = append(nodes, to)
				}
			}
		}
	}
	return nodes, seen, ctx.Err()
}

// statistics counts objects by type. The types with most bytes come last. Types with equal bytes are in the order of
// discovery.
func (x *Holders) statistics(g *answer.Gaps, nodes []Node) *answer.Statistics {
	out := &answer.Statistics{Types: []answer.TypeCount{}}
	index := make([]int, len(x.g.types)) // index in out.Types, + 1
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
