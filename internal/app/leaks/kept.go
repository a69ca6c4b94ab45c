package leaks

import (
	"cmp"
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/says"
)

// kept states what keeps a suspect alive, unless that is the root of its path alone.
func (f *finder) kept(ctx context.Context, out *answer.Suspect, s *suspect) error {
	switch s.kind {
	case answer.SuspectThreadStatic:
		out.Kept = says.InThreads(out)
		return nil
	case answer.SuspectGroup:
		out.Kept = says.ByHolders(out.Holders)
		return nil
	case answer.SuspectTimers, answer.SuspectRootScope, answer.SuspectInterned:
		return nil // the kind says it
	}
	if s.point == graph.NoNode || out.Path == nil {
		return nil
	}
	var ways []way
	linked := false
	for _, top := range f.tops(s) {
		if !f.several(top) {
			nodes, err := f.path(ctx, top)
			if err != nil {
				return err
			}
			ways = append(ways, way{nodes: nodes, source: f.start(nodes)})
			continue
		}
		found, err := f.ways(ctx, top, f.through)
		if err != nil {
			return err
		}
		if linked = len(found) < 2; len(found) == 0 {
			linked = false
			if found, err = f.ways(ctx, top, nil); err != nil {
				return err
			}
		}
		ways = append(ways, found...)
	}
	return f.nameWays(ctx, out, distinct(ways), linked)
}

// A way is a path to a suspect from a root of its own.
type way struct {
	nodes  []graph.Node
	source graph.Node // the Source at its start. All frames of a thread are one.
	rank   int
}

// tops returns the outermost owners of what a suspect retains.
func (f *finder) tops(s *suspect) []graph.Node {
	out := []graph.Node{f.top(s.point)}
	for _, n := range s.pieces {
		if top := f.top(n); !slices.Contains(out, top) {
			out = append(out, top)
		}
	}
	return out
}

// several reports whether no single root keeps n alive: its dominator is the root of the graph, or a group of roots.
func (f *finder) several(n graph.Node) bool {
	s := f.g.Source(f.doms.Idom(n))
	return s == nil || s.Kind != graph.SourceField && s.Kind != graph.SourceFrame && s.Kind != graph.SourceHandles
}

// ways returns a path to n from each Source, without unverified ones, the best first.
func (f *finder) ways(ctx context.Context, n graph.Node, skip func(graph.Node) bool) (out []way, err error) {
	for p, err := range f.g.Paths(ctx, n, graph.PathOptions{Each: graph.EachSource, Skip: skip}) {
		if err != nil {
			return nil, err
		}
		w := way{nodes: p.Nodes, source: f.start(p.Nodes), rank: f.owner(p.Nodes)}
		if w.rank < ownUnproved {
			out = append(out, w)
		}
		if len(out) == mostOwners {
			break
		}
	}
	slices.SortStableFunc(out, func(a, b way) int { return cmp.Compare(a.rank, b.rank) })
	return distinct(out), nil
}

// distinct removes ways from roots that another way begins at.
func distinct(ways []way) (out []way) {
	seen := map[graph.Node]bool{}
	for _, w := range ways {
		if !seen[w.source] {
			seen[w.source] = true
			out = append(out, w)
		}
	}
	return out
}

// start returns the last Source of a path, or the thread of a frame. A static field stands before the roots of its table.
func (f *finder) start(nodes []graph.Node) graph.Node {
	n := graph.NoNode
	for _, at := range nodes {
		if !f.g.IsObject(at) {
			n = at
		}
	}
	if n == graph.NoNode {
		return n
	}
	if s := f.g.Source(n); s.Kind == graph.SourceFrame && s.Parent >= 0 {
		return f.g.SourceNode(s.Parent)
	}
	return n
}

// nameWays names the roots of several ways. A suspect with one way is kept by the root of its path.
func (f *finder) nameWays(ctx context.Context, out *answer.Suspect, ways []way, linked bool) error {
	if len(ways) < 2 && !linked {
		return ctx.Err()
	}
	var names []string
	for _, w := range ways[:min(len(ways), maxFirst)] {
		if s := f.g.Source(w.source); s != nil && s.Parent == graph.InTable {
			names = append(names, "static "+f.x.Names().Text(&f.a.Gaps, w.source).String())
			continue
		}
		p := f.x.DescribePath(ctx, &f.a.Gaps, w.nodes)
		if names = append(names, p.Root.Name); p.Root.Kind == answer.RootStack && p.Root.Thread != nil {
			names[len(names)-1] = "the stack of thread " + p.Root.Thread.Words()
		}
	}
	out.Kept = says.InWays(names, len(ways), len(ways) >= mostOwners)
	if linked {
		out.Kept = says.AndWaits(names[0])
	}
	return ctx.Err()
}
