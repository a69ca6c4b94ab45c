package leaks

import (
	"cmp"
	"context"
	"slices"
	"strings"

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
	case answer.SuspectThreadLocal:
		out.Kept = says.InLocal(out)
		return nil
	case answer.SuspectGroup:
		if out.Kept = says.ByHolders(out.Holders, out.Others); !out.Kept.IsZero() || !out.Ends.IsZero() { // the calls that alone have it are named
			return nil
		}
		return f.keptEach(ctx, out, s)
	case answer.SuspectTimers, answer.SuspectCalls, answer.SuspectRootScope, answer.SuspectInterned:
		return nil // the kind says it
	}
	if s.point == graph.NoNode || out.Path == nil {
		return nil
	}
	if len(s.pieces) == 0 {
		if service := f.serviceAbove(s.point); service != graph.NoNode {
			out.Kept = says.ByService(f.typeText(f.g.Type(service)).String())
			return nil
		}
		if top := f.top(s.point); f.is(top, patternTimer) {
			return f.keptByTimer(ctx, out, s, top)
		}
	}
	var ways []way
	var besides says.Besides
	for _, n := range f.parts(s) {
		found, left, err := f.waysTo(ctx, n)
		if err != nil {
			return err
		}
		ways, besides = append(ways, found...), max(besides, left)
	}
	if err := f.nameWays(ctx, out, distinct(ways), besides); err != nil {
		return err
	}
	if out.Kept.IsZero() && out.Weak == answer.LinkAttached {
		out.Kept = says.Attached(out.Path.Root.Words(), s.table)
	}
	return nil
}

// waysTo returns the ways to the outermost owner of n, and what is left out because it names no owner. A call under way that alone has n is the
// nearest owner. There is no honest way if all of them lead through waiting code: the calls that have n are named.
func (f *finder) waysTo(ctx context.Context, n graph.Node) (ways []way, left says.Besides, err error) {
	if call := f.callAbove(n, nil); f.isCall(call) {
		return []way{{service: graph.NoNode, call: call, source: call}}, says.BesidesNone, nil
	}
	top := f.top(n)
	if !f.several(top) {
		nodes, err := f.path(ctx, top)
		return []way{f.way(nodes)}, says.BesidesNone, err
	}
	if ways, err = f.ways(ctx, top, f.through); err != nil || len(ways) > 1 {
		return ways, says.BesidesNone, err
	}
	if len(ways) == 0 {
		ways, err = f.ways(ctx, top, nil)
		return f.throughCalls(ways), says.BesidesNone, err
	}
	left, err = f.leftOut(ctx, top)
	return ways, left, err
}

// leftOut returns what else leads to an object with a single way that names an owner. It may be nothing: frames of one
// thread are one way, and unverified words of stacks no way.
func (f *finder) leftOut(ctx context.Context, n graph.Node) (says.Besides, error) {
	if all, err := f.ways(ctx, n, nil); err != nil || len(all) <= 1 {
		return says.BesidesNone, err
	}
	if withWaits, err := f.ways(ctx, n, f.slot); err != nil || len(withWaits) > 1 {
		return says.BesidesWaits, err
	}
	return says.BesidesSlots, nil
}

// keptByTimer states that a timer keeps a suspect alive, and which AsyncLocal leads to it.
func (f *finder) keptByTimer(ctx context.Context, out *answer.Suspect, s *suspect, n graph.Node) error {
	method := ""
	t, x, err := bind[*timer](f, n)
	if err == nil {
		method, err = f.method(t.Callback.Value(x))
	}
	if err != nil {
		f.missing(n, err)
		return ctx.Err()
	}
	local, nodes := "", []graph.Node{s.point}
	for at := s.point; at != n; nodes = append(nodes, at) {
		at = f.doms.Idom(at)
	}
	for i := range nodes[1:] {
		edges, err := f.x.Names().Edges(ctx, nodes[i+1], nodes[i], 1)
		if err == nil && len(edges) > 0 && edges[0].Local != "" {
			local = edges[0].Local
		}
	}
	out.Kept = says.ByTimer(method, local)
	return ctx.Err()
}

// The members of a group that are asked for what keeps them alive. A search may visit all objects.
const (
	followed    = 8
	maxFollowed = 1 << 24 // objects that all searches may visit
)

// keptEach states what keeps members of a group alive that have no common holder. Some of them stand for all.
func (f *finder) keptEach(ctx context.Context, out *answer.Suspect, s *suspect) error {
	counts, asked := map[string]int{}, min(len(s.sample), followed, max(1, maxFollowed/max(1, f.g.Objects())))
	for i := range asked {
		n := s.sample[i*len(s.sample)/asked]
		ways, err := f.ways(ctx, n, f.through)
		if err == nil && len(ways) == 0 {
			ways, err = f.ways(ctx, n, nil)
			ways = f.throughCalls(ways)
		}
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, w := range ways[:min(len(ways), maxRoots)] {
			if name := f.alike(ctx, w); !seen[name] {
				seen[name] = true
				counts[name]++
			}
		}
	}
	out.Kept = says.Each(counts, asked)
	return ctx.Err()
}

// owned names the service or the call that a way leads through. It returns "" if what the way is of is its root.
func (f *finder) owned(w way) string {
	switch w.source {
	case graph.NoNode:
		return ""
	case w.service:
		return says.Service(f.typeText(f.g.Type(w.service)).String())
	case w.call:
		return says.Call(asyncMethod(f.typeName(w.call)))
	}
	return ""
}

// alike names the root of a way without the thread that has it.
func (f *finder) alike(ctx context.Context, w way) string {
	if name := f.owned(w); name != "" {
		return name
	}
	p := f.x.DescribePath(ctx, &f.a.Gaps, w.nodes)
	switch p.Root.Kind {
	case answer.RootThreadStatic:
		name, _, _ := strings.Cut(p.Root.Name, " of thread ")
		return name + " of a thread"
	case answer.RootStack:
		p.Root.Thread = nil
		return p.Root.Words()
	case answer.RootHandle:
		if p.Root.Handle != "" {
			return "a handle (" + p.Root.Handle + ")"
		}
	}
	return p.Root.Name
}

// maxRoots is how many ways to a member of a group are named.
const maxRoots = 4

// A way is a path to a suspect from a root of its own.
type way struct {
	nodes   []graph.Node
	service graph.Node // of a service provider, or NoNode
	call    graph.Node // of an async method, or NoNode
	source  graph.Node // identifies the way: the service, the call, or the Source at its start. All frames of a thread are one.
	rank    int
}

// throughCalls returns ways that all lead through waiting code as those of the calls that have the suspect: what wakes a call up is no owner.
func (f *finder) throughCalls(ways []way) []way {
	for i := range ways {
		if w := &ways[i]; w.call != graph.NoNode && w.service == graph.NoNode {
			w.source = w.call
		}
	}
	return distinct(ways)
}

func (f *finder) way(nodes []graph.Node) way {
	w := way{nodes: nodes, service: f.serviceOn(nodes), call: f.callOn(nodes), rank: f.owner(nodes)}
	if w.source = w.service; w.source == graph.NoNode {
		w.source = f.start(nodes)
	}
	return w
}

// parts returns what together is a suspect, one for each outermost owner.
func (f *finder) parts(s *suspect) []graph.Node {
	out, tops := []graph.Node{s.point}, []graph.Node{f.top(s.point)}
	for _, n := range s.pieces {
		if top := f.top(n); !slices.Contains(tops, top) {
			out, tops = append(out, n), append(tops, top)
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
		if w := f.way(p.Nodes); w.rank < ownUnproved {
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
func (f *finder) nameWays(ctx context.Context, out *answer.Suspect, ways []way, besides says.Besides) error {
	if len(ways) == 0 || len(ways) == 1 && besides == says.BesidesNone && f.owned(ways[0]) == "" {
		return ctx.Err()
	}
	var names []string
	for _, w := range ways[:min(len(ways), maxFirst)] {
		if name := f.owned(w); name != "" {
			names = append(names, name)
			continue
		}
		if s := f.g.Source(w.source); s != nil && s.Parent == graph.InTable {
			names = append(names, "static "+f.x.Names().Text(&f.a.Gaps, w.source).String())
			continue
		}
		p := f.x.DescribePath(ctx, &f.a.Gaps, w.nodes)
		if names = append(names, p.Root.Name); p.Root.Kind == answer.RootStack && p.Root.Thread != nil {
			names[len(names)-1] = "the stack of thread " + p.Root.Thread.Words()
		}
	}
	switch {
	case len(ways) > 1:
		out.Kept = says.InWays(names, len(ways), len(ways) >= mostOwners)
	case besides == says.BesidesNone && ways[0].source == ways[0].call:
		out.Kept = says.ByCall(asyncMethod(f.typeName(ways[0].call)))
	case besides == says.BesidesNone: // a path through a service; others may lead to the provider or around the service
		out.Kept = says.OneOf(names[0])
	default:
		out.Kept = says.And(names[0], besides)
	}
	return ctx.Err()
}
