package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// LinkOptions selects what is described about the neighbours of an object.
type LinkOptions struct {
	Types bool `opt:"stat" help:"counts by type"` // instead of listing neighbours
	Limit int  `opt:"limit" range:"0:" default:"50" help:"rows at most, 0 for all"`
}

// Referrers returns what refers to an object: other objects, live or not, and roots.
func (x *Holders) Referrers(ctx context.Context, a target.Addr, o LinkOptions) (*answer.Links, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.Links, error) {
		n, err := x.Object(a)
		if err != nil {
			return nil, err
		}
		held, err := x.g.Referrers(ctx)
		if err != nil {
			return nil, err
		}
		return x.neighbours(ctx, n, true, held.Of(n), o)
	})
}

// Referents returns what an object refers to.
func (x *Holders) Referents(ctx context.Context, a target.Addr, o LinkOptions) (*answer.Links, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.Links, error) {
		n, err := x.Object(a)
		if err != nil {
			return nil, err
		}
		nodes := x.g.Referents(n)
		if fields := x.g.Statics(n); len(fields) > 0 {
			nodes = slices.Concat(nodes, fields)
		}
		return x.neighbours(ctx, n, false, nodes, o)
	})
}

// neighbours describes the nodes at the other ends of references. nodes contains each node as often as there are
// references.
func (x *Holders) neighbours(ctx context.Context, n Node, referrers bool, nodes []Node, o LinkOptions) (*answer.Links, error) {
	d, err := x.g.Dominators(ctx)
	if err != nil {
		return nil, err
	}
	live, err := x.g.Live(ctx)
	if err != nil {
		return nil, err
	}
	out := &answer.Links{Referrers: referrers}
	if referrers {
		out.NoteAll(x.g.stats.Warnings())
	}
	out.Object = x.object(&out.Gaps, n)
	counts := countNodes(nodes)
	if o.Types {
		out.Types = x.neighbourTypes(&out.Gaps, counts, live)
		return out, nil
	}
	times := make(map[Node]int, len(counts))
	for _, c := range counts {
		times[c.node] = c.times
	}
	for i, m := range nodes {
		if i%searchStep == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if times[m] == 0 {
			continue // already listed
		}
		if o.Limit > 0 && len(out.List) == o.Limit {
			break
		}
		b := answer.Link{Count: times[m], Live: live.Live(m)}
		times[m] = 0
		b.Retained = answer.Missing[uint64](errNoObject)
		if object := x.neighbour(ctx, &out.Gaps, &b, n, m, referrers); object != NoNode {
			b.Retained = answer.Known(d.Retained(object))
		}
		out.List = append(out.List, b)
	}
	out.More = uint64(len(counts) - len(out.List))
	return out, nil
}

// errNoObject is the error for the retained size of a node that is not an object.
var errNoObject = target.Unsupportedf("a root is no object")

// neighbour describes the reference between n and m. It returns the object that represents m, or NoNode.
func (x *Holders) neighbour(ctx context.Context, g *answer.Gaps, b *answer.Link, n, m Node, referrer bool) Node {
	from, to := n, m
	if referrer {
		from, to = m, n
	}
	b.Strength = answer.LinkStrength(x.names.Strength(from, to).String())
	switch {
	case x.g.IsObject(m):
		o := x.object(g, m)
		b.Object, b.Edge = &o, x.edge(ctx, g, from, to)
		return m
	case referrer:
		root := x.root(ctx, g, m, n, 0)
		b.Root = &root
	default: // the value of a static field
		b.Edge = &answer.PathEdge{Kind: answer.EdgeStatic, Name: g.Text(x.names.Source(m))}
		if value := x.g.Referents(m); len(value) > 0 {
			o := x.object(g, value[0])
			b.Object = &o
			return value[0]
		}
	}
	return NoNode
}

// A multiple is a node with the number of its occurrences.
type multiple struct {
	node  Node
	times int
}

// countNodes returns the different nodes, in order.
func countNodes(nodes []Node) []multiple {
	sorted := slices.Sorted(slices.Values(nodes))
	var out []multiple
	for _, n := range sorted {
		if k := len(out); k > 0 && out[k-1].node == n {
			out[k-1].times++
			continue
		}
		out = append(out, multiple{n, 1})
	}
	return out
}

// neighbourTypes counts neighbours by type, and Sources by kind.
func (x *Holders) neighbourTypes(g *answer.Gaps, list []multiple, live *Liveness) []answer.LinkType {
	byType := map[int]*answer.LinkType{}
	for _, m := range list {
		key, size := 0, uint64(0)
		if x.g.IsObject(m.node) {
			key, size = x.g.TypeIndex(m.node), x.g.Size(m.node)
		} else {
			key = -1 - int(x.g.Source(m.node).Kind)
		}
		t := byType[key]
		if t == nil {
			t = &answer.LinkType{}
			if key < 0 {
				t.Type.S = SourceKind(-1 - key).String()
			} else {
				t.MethodTable = x.g.types[key].Addr
				t.Type = x.rt.NamedType(g, t.MethodTable)
			}
			byType[key] = t
		}
		t.Count++
		t.References += uint64(m.times)
		t.Size += size
		if live.Live(m.node) {
			t.Live++
		}
	}
	out := make([]answer.LinkType, 0, len(byType))
	for _, t := range byType {
		out = append(out, *t)
	}
	slices.SortStableFunc(out, func(a, b answer.LinkType) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(b.Size, a.Size), cmp.Compare(a.Type.S, b.Type.S), cmp.Compare(a.MethodTable, b.MethodTable))
	})
	return out
}
