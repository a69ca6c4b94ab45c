package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/digraph"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Holders answers questions about what keeps objects alive, and what they keep alive. It is safe for concurrent use.
type Holders struct {
	g     *Graph
	names *Names
	roots *RootReader
	rt    *dac.Runtime
}

// NewHolders returns a Holders for g. r names fields, and rr describes roots. Both are readers of g's runtime.
func NewHolders(g *Graph, r *objects.Reader, rr *RootReader) *Holders {
	return &Holders{g: g, names: g.Names(r), roots: rr, rt: g.h.Runtime()}
}

// Object returns the node of the object at an address. The error is target.ErrCorrupt if there is no object,
// target.ErrUnsupported for a free block, and target.ErrNotInDump if the deciding memory is not in the dump.
func (x *Holders) Object(a target.Addr) (Node, error) {
	if n, ok := x.g.Node(a); ok {
		return n, nil
	}
	switch o, err := x.g.h.ObjectAt(a); {
	case errors.Is(err, target.ErrNotInDump):
		return NoNode, err
	case err == nil && o.Free && x.g.h.Segment(a) != nil:
		return NoNode, target.Argumentf("%016x is a free block, not an object", uint64(a))
	}
	return NoNode, target.CorruptHeapf("%016x is not an object", uint64(a))
}

// HoldOptions selects paths from roots to an object.
type HoldOptions struct {
	// All selects a path from each handle and each Source that leads to the object.
	All      bool `opt:"all" excludes:"paths" help:"a path from each root, and not only from each kind"`
	NoStacks bool `opt:"nostacks" help:"no stacks: what lives once the methods that run now have returned"`
	// Condemned, if not nil, is the generation that is assumed to be collected. Objects of older generations keep
	// their referents alive.
	Condemned *int `opt:"gcgen" range:"0:2" help:"what keeps it alive in a collection of generation N (0, 1 or 2): older objects do"`
	Limit     int  `opt:"limit" range:"1:1048576" help:"at most N paths"` // 0 for no limit
	Retained  bool `opt:"retained" help:"also the object's retained size"`
	// Disjoint, if not 0, selects at most that many paths that have only the object in common.
	Disjoint int `opt:"paths" range:"1:1048576" help:"up to N paths that share only the object: all of them have to be cut to free it"`
	// Order chooses among the paths. OrderSOS ignores All, Disjoint and Retained, and has no effect with Condemned.
	Order PathOrder
}

// A PathOrder chooses one of the many paths that lead to an object.
type PathOrder uint8

// The orders of paths.
const (
	OrderShortest PathOrder = iota // the shortest path from each kind of root
	// OrderSOS finds a path from each root: the path of SOS's gcroot and pathto, with the roots in SOS's order.
	// SOS's search marks objects as done when it has only seen them, and so loses paths. The answer notes lost
	// paths, and has the shortest paths if SOS's search finds none. Roots unknown to SOS, such as thread statics
	// since .NET 9, come last.
	OrderSOS
)

// maxFirst is the number of listed referrers of garbage.
const maxFirst = 5

// RootPaths returns what keeps an object alive: the shortest path from each kind of root, or the selected paths.
func (x *Holders) RootPaths(ctx context.Context, a target.Addr, o HoldOptions) (*answer.RootPaths, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.RootPaths, error) {
		n, err := x.Object(a)
		if err != nil {
			return nil, err
		}
		if o.Order == OrderSOS && o.Condemned == nil {
			return x.sosRootPaths(ctx, n, o)
		}
		out := &answer.RootPaths{Paths: []answer.RootPath{}, Condemned: o.Condemned, WithoutStacks: o.NoStacks}
		out.NoteAll(x.g.stats.Warnings())
		out.Object = x.object(&out.Gaps, n)
		if o.Retained {
			if out.Retained, err = x.retained(ctx, n); err != nil {
				return nil, err
			}
		}
		if out.Older = o.Condemned != nil && x.isOlder(n, *o.Condemned); out.Older {
			out.Verdict = answer.Held
			return out, nil
		}
		met := map[[2]Node]int{}
		found := func(p []Node) bool {
			if o.Limit > 0 && len(out.Paths) == o.Limit {
				out.Limited = true
				return false
			}
			out.Paths = append(out.Paths, x.rootPath(ctx, &out.Gaps, p, met))
			return true
		}
		if err := x.paths(ctx, n, o, found); err != nil {
			return nil, err
		}
		return out, x.judge(ctx, out, n)
	})
}

// paths calls found with paths to n, including Sources, until found returns false.
func (x *Holders) paths(ctx context.Context, n Node, o HoldOptions, found func([]Node) bool) error {
	skip := x.stackFilter(o.NoStacks)
	switch {
	case o.Condemned != nil:
		return x.youngPaths(ctx, n, *o.Condemned, skip, found)
	case o.Disjoint > 0:
		return x.disjointPaths(ctx, n, o.Disjoint, skip, found)
	}
	each := EachKind
	if o.All {
		each = EachRoot
	}
	for p, err := range x.g.Paths(ctx, n, PathOptions{Each: each, Skip: skip}) {
		if err != nil || !found(p.Nodes) {
			return err
		}
	}
	return nil
}

// stackFilter returns a function that reports whether a node belongs to stacks, or nil if noStacks is false.
func (x *Holders) stackFilter(noStacks bool) func(Node) bool {
	if !noStacks {
		return nil
	}
	return func(n Node) bool {
		s := x.g.Source(n)
		return s != nil && (s.Kind == SourceStacks || s.Kind == SourceFrame || s.Kind == SourceThread && s.Parent >= 0 &&
			x.g.sources[s.Parent].Kind == SourceStacks)
	}
}

// disjointPaths finds paths that have only n in common.
func (x *Holders) disjointPaths(ctx context.Context, n Node, count int, skip func(Node) bool, found func([]Node) bool) error {
	held, err := x.g.Referrers(ctx)
	if err != nil {
		return err
	}
	root := func(u uint32) bool { return !x.g.IsObject(u) && !x.g.inTable(u) }
	chains, err := digraph.Chains(ctx, held.rows, n, count, root, skip, x.g.lazy.options)
	for _, c := range chains {
		if !found(append(x.g.sourceChain(c[0]), c[1:]...)) {
			break
		}
	}
	return err
}

// youngPaths finds the paths that matter in a collection of the generations up to gen. It finds the shortest path from
// each kind of root, and from each object of an older generation with young referents that lead to n.
func (x *Holders) youngPaths(ctx context.Context, n Node, gen int, skip func(Node) bool, found func([]Node) bool) error {
	held, err := x.g.Referrers(ctx)
	if err != nil {
		return err
	}
	next, queue, kinds := map[Node]Node{n: n}, []Node{n}, map[Node]bool{}
	path := func(from []Node, at Node) []Node {
		for ; at != n; at = next[at] {
			from = append(from, at)
		}
		return append(from, n)
	}
	for i := 0; i < len(queue); i++ {
		if i%searchStep == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := queue[i]
		for _, r := range held.Of(at) {
			if _, ok := next[r]; ok || skip != nil && skip(r) {
				continue
			}
			switch {
			case !x.g.IsObject(r) && !x.g.inTable(r):
				chain := x.g.sourceChain(r)
				if kinds[chain[0]] {
					continue
				}
				kinds[chain[0]] = true
				if !found(path(chain, at)) {
					return nil
				}
			case x.g.IsObject(r) && x.isOlder(r, gen):
				next[r] = at
				if !found(path([]Node{r}, at)) {
					return nil
				}
			default:
				next[r] = at
				queue = append(queue, r)
			}
		}
	}
	return ctx.Err()
}

// isOlder reports whether an object belongs to a generation older than gen. Large and pinned objects are in the oldest.
func (x *Holders) isOlder(n Node, gen int) bool {
	g := x.g.Generation(n)
	return g > heap.Generation(min(gen, int(heap.Generation2))) && (gen < int(heap.Generation2) || g == heap.GenerationFrozen)
}

// judge concludes from the paths, or from their absence, whether the object is alive.
func (x *Holders) judge(ctx context.Context, out *answer.RootPaths, n Node) error {
	if len(out.Paths) > 0 {
		out.Verdict = answer.Held
		return nil
	}
	live, err := x.g.Live(ctx)
	if err != nil {
		return err
	}
	held, err := x.g.Referrers(ctx)
	if err != nil {
		return err
	}
	e := &answer.NotHeld{Objects: uint64(x.g.objects), Unread: len(out.Noted())}
	e.Live, _ = live.Count()
	for i := range x.g.sources {
		for range x.g.RootRefs(x.g.SourceNode(i)) {
			e.Roots++
		}
	}
	last := NoNode
	for _, r := range held.Of(n) {
		if r == last || !x.g.IsObject(r) {
			continue
		}
		if last = r; e.Referrers < maxFirst {
			e.First = append(e.First, x.object(&out.Gaps, r))
		}
		e.Referrers++
	}
	out.Evidence = e
	switch {
	case x.g.Generation(n) == heap.GenerationFrozen:
		out.Verdict = answer.Held
	case e.Unread > 0 || out.Condemned != nil || out.WithoutStacks && live.Live(n):
		out.Verdict = answer.NotKnown
	default:
		out.Verdict = answer.Garbage
	}
	out.Conclusion = pathless(out)
	return nil
}

// pathless concludes what it means that no path leads to an object.
func pathless(out *answer.RootPaths) *answer.Verdict {
	v := answer.Conclude(answer.NoFinding, words.OnlyStacks.Of(), answer.StrengthProved)
	switch {
	case out.Verdict == answer.Held:
		return unreached(&out.Object, false)
	case out.Verdict == answer.Garbage:
		v = answer.Conclude(answer.NoFinding, words.GarbageUntil.Of(), answer.StrengthProved)
	case out.Evidence.Unread > 0:
		v = answer.Conclude(answer.NoFinding, words.HoldersUnread.Of(), answer.StrengthUnknown)
	case out.Condemned != nil:
		v = answer.Conclude(answer.NoFinding, words.NoPathForCollection.Of(words.N(*out.Condemned)), answer.StrengthProved)
	}
	return &v
}

func (x *Holders) retained(ctx context.Context, n Node) (*uint64, error) {
	d, err := x.g.Dominators(ctx)
	if err != nil {
		return nil, err
	}
	bytes := d.Retained(n)
	return &bytes, nil
}

func (x *Holders) object(g *answer.Gaps, n Node) answer.PathObject {
	mt := x.g.Type(n)
	return answer.PathObject{Address: x.g.Address(n), MethodTable: mt.Addr, Type: x.rt.NamedType(g, mt.Addr),
		Size: x.g.Size(n), Generation: x.g.Generation(n).String()}
}

// rootPath describes a path: Sources and objects, with static fields between them. met counts the paths for each pair
// of a Source and its object, because each of several references has a path.
func (x *Holders) rootPath(ctx context.Context, g *answer.Gaps, nodes []Node, met map[[2]Node]int) answer.RootPath {
	first := 0
	for first < len(nodes) && !x.g.IsObject(nodes[first]) {
		first++
	}
	var out answer.RootPath
	if first == 0 {
		out.Root = x.oldObject(g, nodes[0])
	} else {
		key := [2]Node{nodes[first-1], nodes[first]}
		out.Root = x.root(ctx, g, key[0], key[1], met[key])
		met[key]++
	}
	out.Objects = x.steps(ctx, g, nodes[first:])
	return out
}

// steps describes the objects of a path.
func (x *Holders) steps(ctx context.Context, g *answer.Gaps, nodes []Node) []answer.PathStep {
	var out []answer.PathStep
	from := NoNode
	var static *answer.PathEdge
	for _, n := range nodes {
		if !x.g.IsObject(n) {
			static = &answer.PathEdge{Kind: answer.EdgeStatic, Name: x.names.Text(g, n)}
			continue
		}
		step := answer.PathStep{PathObject: x.object(g, n), Edge: static}
		if static == nil && from != NoNode {
			step.Edge = x.edge(ctx, g, from, n)
		}
		out, from, static = append(out, step), n, nil
	}
	return out
}

// edge describes the first reference of an object to another.
func (x *Holders) edge(ctx context.Context, g *answer.Gaps, from, to Node) *answer.PathEdge {
	most := 2
	if x.g.Size(from) > deferSize {
		most = 1 // finding more would read all of a large array
	}
	list, err := x.names.Edges(ctx, from, to, most)
	if len(list) == 0 {
		return x.staticEdge(g, from, to, err)
	}
	return &answer.PathEdge{Kind: answer.EdgeKind(list[0].Kind.String()), Name: answer.Text{S: list[0].Name}, More: len(list) > 1}
}

// staticEdge describes the reference of a table of static fields to a field's value. In the graph, the field has that
// reference.
func (x *Holders) staticEdge(g *answer.Gaps, from, to Node, err error) *answer.PathEdge {
	if o, readErr := x.g.Object(from); readErr == nil {
		for r := range x.g.h.References(o) {
			if r.Target != x.g.Address(to) {
				continue
			}
			if s, ok := x.g.fields[r.Slot]; ok {
				return &answer.PathEdge{Kind: answer.EdgeStatic, Name: x.names.Text(g, s)}
			}
		}
	}
	g.Note(err)
	return &answer.PathEdge{Kind: answer.EdgeField, Name: answer.Text{Err: err}}
}

// root describes a reference of a Source to the object n: the one with the index time among several.
func (x *Holders) root(ctx context.Context, g *answer.Gaps, source, n Node, time int) answer.GCRoot {
	s := x.g.Source(source)
	if s.Kind == SourceField {
		out := answer.GCRoot{Kind: answer.RootStatic, Object: x.g.Address(n), Address: s.Slot, Strong: true}
		name := x.names.Text(g, source)
		out.Name = fieldName(s, name.String())
		if s.Thread != nil {
			out.Kind = answer.RootThreadStatic
			out.Thread = describeRootThread(s.Thread)
		}
		return out
	}
	for r := range x.g.RootRefs(source) {
		if r.Object != n {
			continue
		}
		if time--; time >= 0 {
			continue
		}
		if root, ok := x.g.RootOf(source, r); ok {
			return *x.roots.Describe(ctx, &root)
		}
	}
	name := x.names.Text(g, source)
	return answer.GCRoot{Kind: answer.RootKind(s.Kind.String()), Name: name.String(), Object: x.g.Address(n), Strong: true}
}

// fieldName returns the name of a static field, or of a thread's value of one.
func fieldName(s *Source, name string) string {
	if s.Thread != nil {
		return fmt.Sprintf("thread static %s of thread %x", name, s.Thread.ID())
	}
	return "static " + name
}

// oldObject describes an object that is not collected and so keeps younger ones alive.
func (x *Holders) oldObject(g *answer.Gaps, n Node) answer.GCRoot {
	o := x.object(g, n)
	return answer.GCRoot{Kind: answer.RootOlder, Object: o.Address, Strong: true, Name: fmt.Sprintf("an object of generation %s", o.Generation)}
}

func (x *Holders) sosRootPaths(ctx context.Context, n Node, o HoldOptions) (*answer.RootPaths, error) {
	out := &answer.RootPaths{Paths: []answer.RootPath{}, WithoutStacks: o.NoStacks, Verdict: answer.Held}
	out.NoteAll(x.g.stats.Warnings())
	out.Object = x.object(&out.Gaps, n)
	search := x.g.sosSearch(n)
	toward, err := x.g.pathsToward(ctx, n)
	if err != nil {
		return nil, err
	}
	defer toward.Free()
	var lost []Root
	for root := range x.rootsOfSOS(ctx, o.NoStacks) {
		start, ok := x.g.Node(root.Object)
		if !ok {
			continue
		}
		if out.Limited = o.Limit > 0 && len(out.Paths) == o.Limit; out.Limited {
			break
		}
		if toward.Slice()[start] == 0 {
			if err := search.pass(ctx, start); err != nil {
				return nil, err
			}
			continue
		}
		nodes, err := search.from(ctx, start)
		if err != nil {
			return nil, err
		}
		if nodes == nil {
			lost = append(lost, root)
			continue
		}
		out.Paths = append(out.Paths, x.sosPath(ctx, &out.Gaps, &root, nodes))
	}
	if len(out.Paths) > 0 && len(lost) > 0 {
		out.Note(target.Unsupportedf("%d more roots lead to the object, by paths that SOS's search loses: gcroot -all without --sos lists them", len(lost)))
		return out, ctx.Err()
	}
	for i := range lost {
		if out.Limited = o.Limit > 0 && len(out.Paths) == o.Limit; out.Limited {
			break
		}
		start, _ := x.g.Node(lost[i].Object)
		out.Paths = append(out.Paths, x.sosPath(ctx, &out.Gaps, &lost[i], follow(toward.Slice(), start)))
	}
	return out, ctx.Err()
}

// rootsOfSOS returns the roots in SOS's order, with the handles of a table sorted by type.
func (x *Holders) rootsOfSOS(ctx context.Context, noStacks bool) iter.Seq[Root] {
	return func(yield func(Root) bool) {
		var handles []Root
		more := func() bool {
			slices.SortStableFunc(handles, func(a, b Root) int {
				return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Handle, b.Handle))
			})
			for _, root := range handles {
				if !yield(root) {
					return false
				}
			}
			handles = nil
			return true
		}
		for root, err := range x.roots.All(ctx, RootOptions{NoStacks: noStacks}) {
			switch {
			case err != nil && root.Object == 0:
			case root.Kind == RootHandle:
				handles = append(handles, root)
			case !more() || !yield(root):
				return
			}
		}
		more()
	}
}

func (x *Holders) sosPath(ctx context.Context, g *answer.Gaps, root *Root, nodes []Node) answer.RootPath {
	p := answer.RootPath{Root: *x.roots.Describe(ctx, root), Objects: x.steps(ctx, g, nodes)}
	if root.Frame != nil && root.Frame.Method != nil {
		p.Method = g.Text(dac.CodeOf(x.rt).MethodName(root.Frame.Method, dac.MethodFull))
	}
	return p
}

// pathsToward computes shortest paths to n along references in memory and dependent handles. For each object that leads
// to n, the result has the next object + 1. It has n + 1 for n itself, and 0 for other objects.
func (g *Graph) pathsToward(ctx context.Context, n Node) (*offheap.Array[uint32], error) {
	held, err := g.Referrers(ctx)
	if err != nil {
		return nil, err
	}
	toward, err := offheap.Make[uint32](g.budget, g.Nodes())
	if err != nil {
		return nil, err
	}
	next, queue := toward.Slice(), []Node{n}
	next[n] = n + 1
	for i, left := 0, searchStep; i < len(queue); i++ {
		at := queue[i]
		for _, r := range held.Of(at) {
			if left--; left == 0 {
				if left = searchStep; ctx.Err() != nil {
					toward.Free()
					return nil, ctx.Err()
				}
			}
			if !g.IsObject(r) {
				var in bool
				if r, in = g.Containing(g.Source(r).Slot); !in {
					continue // a static field outside of tables
				}
			}
			if next[r] == 0 {
				next[r] = at + 1
				queue = append(queue, r)
			}
		}
	}
	return toward, nil
}

// follow returns the path from a node in the result of pathsToward.
func follow(toward []uint32, n Node) []Node {
	nodes := []Node{n}
	for toward[n] != n+1 {
		n = toward[n] - 1
		nodes = append(nodes, n)
	}
	return nodes
}

// PathTo finds a path from one object to another: a shortest path, or the path that SOS finds.
func (x *Holders) PathTo(ctx context.Context, from, to target.Addr, order PathOrder) (*answer.ObjectPath, error) {
	return using(ctx, x.g, func(ctx context.Context) (*answer.ObjectPath, error) {
		a, err := x.Object(from)
		if err != nil {
			return nil, err
		}
		b, err := x.Object(to)
		if err != nil {
			return nil, err
		}
		out := &answer.ObjectPath{Objects: []answer.PathStep{}}
		out.From, out.To = x.object(&out.Gaps, a), x.object(&out.Gaps, b)
		var nodes []Node
		if order == OrderSOS {
			nodes, err = x.g.sosSearch(b).from(ctx, a) // finds every path, because nothing was searched before
		} else {
			nodes, err = x.shortestPath(ctx, a, b)
		}
		if err != nil {
			return nil, err
		}
		if out.Found = nodes != nil; out.Found {
			out.Objects = x.steps(ctx, &out.Gaps, nodes)
		} else {
			out.NoteAll(x.g.stats.Warnings())
		}
		return out, nil
	})
}

// shortestPath returns a shortest path from one object to another, or nil.
func (x *Holders) shortestPath(ctx context.Context, a, b Node) ([]Node, error) {
	tree, err := x.g.rows.ShortestPaths(ctx, []uint32{a}, x.g.lazy.options)
	if err != nil {
		return nil, err
	}
	defer tree.Free()
	return digraph.Path(tree.Slice(), b), nil
}

// Graph returns the graph that x reads.
func (x *Holders) Graph() *Graph { return x.g }

// Names returns the names of the graph's edges.
func (x *Holders) Names() *Names { return x.names }

// Describe describes an object. Unknown parts are noted in g.
func (x *Holders) Describe(g *answer.Gaps, n Node) answer.PathObject { return x.object(g, n) }

// DescribePath describes the nodes of a Path: Sources, then objects. Unknown parts are noted in g.
func (x *Holders) DescribePath(ctx context.Context, g *answer.Gaps, nodes []Node) answer.RootPath {
	if len(nodes) == 0 {
		return answer.RootPath{}
	}
	return x.rootPath(ctx, g, nodes, map[[2]Node]int{})
}

// TypesBelow counts the objects that n dominates, including n, by type. It returns the top largest types, or all if top
// is 0.
func (x *Holders) TypesBelow(ctx context.Context, g *answer.Gaps, n Node, top int) ([]answer.TypeCount, error) {
	return using(ctx, x.g, func(ctx context.Context) ([]answer.TypeCount, error) {
		d, err := x.g.Dominators(ctx)
		if err != nil {
			return nil, err
		}
		t := x.newTypeSums()
		if err := x.visitBelow(ctx, d, n, t.add); err != nil {
			return nil, err
		}
		rows, _ := t.rows(g, top)
		return rows, nil
	})
}
