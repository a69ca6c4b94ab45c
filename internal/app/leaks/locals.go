package leaks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/together"
)

// The types between an object that captured an execution context and the values in it.
const (
	executionContext = "System.Threading.ExecutionContext"
	localMap         = "System.Threading.AsyncLocalValueMap+"
)

// locals sums up the values of AsyncLocals in the execution contexts among nodes, and in those that nodes refer to:
// timers, boxes of state machines, work items. The largest retained size comes first.
func (f *finder) locals(ctx context.Context, nodes []graph.Node) ([]answer.AsyncLocalValues, error) {
	byName, order := map[string]*bundle{}, []string(nil)
	counts := map[string]uint64{}
	for i, n := range nodes[:min(len(nodes), maxRead)] {
		if i%lookStep == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c := f.referent(n, executionContext)
		if f.typeName(n) == executionContext {
			c = n
		}
		if c == graph.NoNode {
			continue
		}
		holder := f.referent(c, localMap)
		if holder == graph.NoNode {
			continue
		}
		for _, h := range append([]graph.Node{holder}, f.g.Referents(holder)...) { // many values are in an array or in dictionary entries
			if !f.g.IsObject(h) || h != holder && !f.g.Type(h).IsArray() {
				continue
			}
			for _, v := range f.g.Referents(h) {
				edges, err := f.x.Names().Edges(ctx, h, v, 1)
				if err != nil || len(edges) == 0 || edges[0].Local == "" {
					continue
				}
				bundled(byName, &order, edges[0].Local, v)
				counts[edges[0].Local]++
			}
		}
	}
	var out []answer.AsyncLocalValues
	for _, name := range order {
		out = append(out, answer.AsyncLocalValues{Name: name, Count: counts[name], Retained: together.Retained(f.g, f.doms, byName[name].nodes)})
	}
	slices.SortStableFunc(out, func(a, b answer.AsyncLocalValues) int { return cmp.Compare(b.Retained, a.Retained) })
	return out[:min(len(out), topTypes)], nil
}

// commonContexts returns what the execution contexts retain that several of some timers refer to, and nothing else, and marks these. No timer alone
// retains one.
func (f *finder) commonContexts(ctx context.Context, timers []graph.Node) (size uint64, err error) {
	held, err := f.g.Referrers(ctx)
	if err != nil {
		return 0, err
	}
	for i, n := range timers {
		if i%lookStep == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		c := f.referent(n, executionContext)
		if c == graph.NoNode || f.part[c] || f.g.IsObject(f.doms.Idom(c)) {
			continue // a timer, or what has it, retains it
		}
		list := held.Of(c)
		other := func(r graph.Node) bool {
			return f.live.Live(r) && !(f.g.IsObject(r) && f.is(r, patternTimer) && f.part[r])
		}
		if slices.ContainsFunc(list[:min(len(list), lookStep)], other) || len(list) > lookStep {
			continue
		}
		f.part[c] = true
		size += f.doms.Retained(c)
	}
	return size, nil
}

// localsBelow returns locals for the members of an accumulation.
func (f *finder) localsBelow(ctx context.Context, s *suspect) ([]answer.AsyncLocalValues, error) {
	if f.typeName(s.member) != executionContext && f.referent(s.member, executionContext) == graph.NoNode {
		return nil, nil
	}
	children, err := f.doms.Children(ctx, s.point)
	if err != nil {
		return nil, err
	}
	return f.locals(ctx, slices.DeleteFunc(slices.Clone(children), func(n graph.Node) bool { return !f.g.IsObject(n) || f.g.TypeIndex(n) != s.typ }))
}

// referent returns the first referent of n with a type name that begins with typ, or NoNode.
func (f *finder) referent(n graph.Node, typ string) graph.Node {
	for _, r := range f.g.Referents(n) {
		if f.g.IsObject(r) && strings.HasPrefix(f.typeName(r), typ) {
			return r
		}
	}
	return graph.NoNode
}
