package leaks

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/leaks/internal/together"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// missing records a type whose fields match no known version. Other errors are gaps.
func (f *finder) missing(n graph.Node, err error) {
	if !errors.Is(err, target.ErrUnsupported) {
		f.a.Note(err)
		return
	}
	name := f.typeName(n)
	u := f.unknown[name]
	if u == nil {
		u = &answer.UnknownCollection{Type: answer.Text{S: name}, Reason: err.Error()}
		f.unknown[name] = u
	}
	u.Objects++
}

// living calls visit with the picked objects of a pattern.
func (f *finder) living(ctx context.Context, p pattern, visit func(graph.Node)) error {
	return f.each(ctx, p, func(n graph.Node) error {
		visit(n)
		return nil
	})
}

// is reports whether an object's type belongs to a pattern.
func (f *finder) is(n graph.Node, p pattern) bool { return f.masks[f.g.TypeIndex(n)]&(1<<p) != 0 }

func (f *finder) object(n graph.Node) (objects.Object, error) {
	return f.r.TrustedObject(f.g.Address(n))
}

// events finds delegates with many handlers.
func (f *finder) events(ctx context.Context) error {
	return f.each(ctx, patternEvent, func(n graph.Node) error {
		for _, list := range f.handlers(n) {
			if err := f.event(ctx, n, list); err != nil {
				return err
			}
		}
		return nil
	})
}

// handlers returns the array of a delegate's handlers if there are many. The array has room after its first Count
// elements.
func (f *finder) handlers(n graph.Node) (lists []graph.Node) {
	for _, list := range f.g.Referents(n) {
		if !f.g.IsObject(list) || len(f.g.Referents(list)) < f.o.Count || !f.g.Type(list).IsArray() {
			continue
		}
		if first := f.g.Referents(list)[0]; f.g.IsObject(first) && f.is(first, patternEvent) {
			lists = append(lists, list)
		}
	}
	return lists
}

func (f *finder) event(ctx context.Context, n, list graph.Node) error {
	d, x, err := bind[*multicast](f, n)
	if err != nil {
		f.missing(n, err)
		return nil
	}
	count, err := d.Count.Value(x).Addr()
	if err != nil {
		f.missing(n, err)
		return nil
	}
	s := suspect{kind: answer.SuspectEvent, point: n, owner: graph.NoNode, retained: f.doms.Retained(n), typ: -1,
		elements: answer.Known(uint64(count)), targets: newCounts()}
	for i, handler := range f.g.Referents(list) {
		if i == maxRead || ctx.Err() != nil {
			break
		}
		if err := f.target(s.targets, handler); err != nil {
			f.missing(handler, err)
			break
		}
	}
	path, err := f.path(ctx, n)
	if err != nil {
		return err
	}
	if k := len(path); k > 1 {
		before := path[k-2]
		if f.g.IsObject(before) {
			s.owner = before
			s.name = f.a.Text(f.x.Names().Name(ctx, before, n))
		} else {
			s.name = f.x.Names().Text(&f.a.Gaps, before)
		}
		s.delegate = !f.isEvent(before, s.name.S)
	}
	f.part[n], f.part[list] = true, true
	f.found = append(f.found, s)
	return nil
}

// target counts a delegate's call by the target's type, or by the delegate itself for a static method.
func (f *finder) target(c *counts, handler graph.Node) error {
	if !f.g.IsObject(handler) {
		return nil
	}
	d, x, err := bind[*delegate](f, handler)
	if err != nil {
		return err
	}
	to, err := f.nodeAt(&d.Target, x)
	if err == nil && to != graph.NoNode {
		c.add(f.g.Type(to).Addr, to)
	}
	return err
}

// bundle is a set of objects of a pattern.
type bundle struct {
	nodes   []graph.Node
	targets *counts
}

func bundled[K comparable](m map[K]*bundle, order *[]K, key K, n graph.Node) *bundle {
	b := m[key]
	if b == nil {
		b = &bundle{targets: newCounts()}
		m[key] = b
		*order = append(*order, key)
	}
	b.nodes = append(b.nodes, n)
	return b
}

// timers finds many timers that call the same method.
func (f *finder) timers(ctx context.Context) error {
	type calls struct{ method, awaits string }
	byMethod, order, seen := map[calls]*bundle{}, []calls(nil), 0
	tops := map[graph.Node]graph.Node{}
	err := f.living(ctx, patternTimer, func(n graph.Node) {
		if seen++; seen > maxRead {
			return
		}
		t, x, err := bind[*timer](f, n)
		if err != nil {
			f.missing(n, err)
			return
		}
		method, err := f.method(t.Callback.Value(x))
		if err != nil {
			f.missing(n, err)
			return
		}
		state, err := f.nodeAt(&t.State, x)
		if err != nil {
			f.missing(n, err)
			return
		}
		b := bundled(byMethod, &order, calls{method, f.awaits(state)}, n)
		if state != graph.NoNode {
			b.targets.add(f.g.Type(state).Addr, state)
		}
	})
	for _, b := range byMethod {
		if len(b.nodes) >= f.o.Count {
			f.take(b.nodes)
		}
	}
	// What timers of several callbacks share counts for the most of them.
	slices.SortStableFunc(order, func(a, b calls) int { return cmp.Compare(len(byMethod[b].nodes), len(byMethod[a].nodes)) })
	for _, c := range order {
		if b := byMethod[c]; len(b.nodes) >= f.o.Count {
			first, count := b.nodes[0], uint64(len(b.nodes))
			size, cerr := f.coverTimers(ctx, b.nodes, tops)
			if cerr != nil {
				return cerr
			}
			locals, lerr := f.locals(ctx, b.nodes)
			if lerr != nil {
				return lerr
			}
			f.found = append(f.found, suspect{kind: answer.SuspectTimers, locals: locals, point: graph.NoNode, owner: graph.NoNode, member: first, retained: size, typ: f.g.TypeIndex(first),
				count: count, size: size, elements: answer.Known(count), atLeast: seen > maxRead, targets: b.targets, name: answer.Text{S: c.method}, awaits: answer.Text{S: c.awaits}})
		}
	}
	return err
}

// delayPromise is the type of the promise of Task.Delay.
const delayPromise = "System.Threading.Tasks.Task+DelayPromise"

// awaits returns the async method that awaits a promise of Task.Delay, or "".
func (f *finder) awaits(promise graph.Node) string {
	if promise == graph.NoNode || !strings.HasPrefix(f.typeName(promise), delayPromise) {
		return ""
	}
	for _, r := range f.g.Referents(promise) {
		if f.g.IsObject(r) && f.is(r, patternCall) {
			return asyncMethod(f.typeName(r))
		}
	}
	return ""
}

// coverTimers returns what timers retain without the timers behind them in the lists of their queue, and with the execution contexts that they share.
// tops keeps the outermost owners of timers.
func (f *finder) coverTimers(ctx context.Context, nodes []graph.Node, tops map[graph.Node]graph.Node) (size uint64, err error) {
	var children, passed []graph.Node
	for _, n := range nodes {
		own := f.doms.Retained(n)
		if children, err = f.doms.AppendChildren(ctx, children[:0], n); err != nil {
			return 0, err
		}
		for _, c := range children {
			if f.g.IsObject(c) && f.is(c, patternTimer) {
				own -= f.doms.Retained(c)
			}
		}
		size += own
		top, passed := n, passed[:0]
		for {
			known, ok := tops[top]
			if ok {
				top = known
				break
			}
			passed = append(passed, top)
			up := f.doms.Idom(top)
			if up == top || !f.g.IsObject(up) {
				break
			}
			top = up
		}
		for _, p := range passed {
			tops[p] = top
		}
		f.covered[top] += own
	}
	common, err := f.commonContexts(ctx, nodes)
	return size + common, err
}

// take marks the nodes of a pattern, so that their size does not count for another suspect.
func (f *finder) take(nodes []graph.Node) {
	for _, n := range nodes {
		f.part[n] = true
	}
}

// method returns the name of the method that a delegate calls.
func (f *finder) method(v objects.Value) (string, error) {
	if err := v.Err(); err != nil {
		return "", err
	}
	if v.IsNull() {
		return "(none)", nil
	}
	o, err := v.Object()
	if err != nil {
		return "", err
	}
	calls, err := o.Delegate()
	if err != nil || len(calls) == 0 {
		return "", err
	}
	m, err := calls[0].Method()
	if err != nil || m == nil {
		return "(unknown method)", nil // precodes may not be in the dump
	}
	return dac.CodeOf(f.r.Runtime()).MethodName(m, dac.MethodFull)
}

// cancellations finds many callbacks registered with one CancellationTokenSource.
func (f *finder) cancellations(ctx context.Context) error {
	bySource, seen := map[graph.Node]*bundle{}, 0
	var order []graph.Node
	err := f.living(ctx, patternCallback, func(n graph.Node) {
		if seen++; seen > maxRead {
			return
		}
		source, state, err := f.registration(n)
		if err != nil {
			f.missing(n, err)
			return
		}
		if source == graph.NoNode {
			return
		}
		b := bundled(bySource, &order, source, n)
		switch {
		case state == graph.NoNode:
		case f.is(state, patternEvent): // a registered Action
			if err := f.target(b.targets, state); err != nil {
				f.missing(state, err)
			}
		default:
			b.targets.add(f.g.Type(state).Addr, state)
		}
	})
	for _, source := range order {
		if b := bySource[source]; len(b.nodes) >= f.o.Count {
			count := uint64(len(b.nodes))
			b.nodes = append(b.nodes, source)
			f.take(b.nodes)
			f.found = append(f.found, suspect{kind: answer.SuspectCancellation, point: source, owner: graph.NoNode, retained: together.Retained(f.g, f.doms, b.nodes), typ: -1,
				elements: answer.Known(count), atLeast: seen > maxRead, targets: b.targets})
		}
	}
	return err
}

// registration returns the CancellationTokenSource of a registration, and the state that its callback receives. source
// is NoNode for a registration in the free list.
func (f *finder) registration(n graph.Node) (source, state graph.Node, err error) {
	c, x, err := bind[*callback](f, n)
	if err != nil {
		return graph.NoNode, graph.NoNode, err
	}
	if call := c.Callback.Value(x); call.Err() != nil || call.IsNull() {
		return graph.NoNode, graph.NoNode, call.Err()
	}
	l, at, err := bindAt[*callbacks](f, &c.List, x)
	if err != nil || l == nil {
		return graph.NoNode, graph.NoNode, err
	}
	if source, err = f.nodeAt(&l.Source, at); err != nil {
		return graph.NoNode, graph.NoNode, err
	}
	state, err = f.nodeAt(&c.State, x)
	return source, state, err
}

// scopes finds many disposables of one type in the root scope of a service provider, which keeps them until the program
// ends.
func (f *finder) scopes(ctx context.Context) error {
	return f.living(ctx, patternScope, func(n graph.Node) {
		s, x, err := bind[*scope](f, n)
		root := false
		if err == nil {
			root, err = f.isRoot(s, x)
		}
		if err == nil && !root {
			return
		}
		items := graph.NoNode
		if err == nil {
			items, err = f.disposables(s, x)
		}
		if err != nil {
			f.missing(n, err)
			return
		}
		if items == graph.NoNode {
			return
		}
		c, types := newCounts(), map[int]*groupBy{}
		list := f.g.Referents(items)
		if f.group(ctx, types, list, nil) != nil {
			return // the context has ended
		}
		most, _ := f.largest(types)
		if most < 0 {
			return
		}
		for _, m := range list {
			if f.g.IsObject(m) {
				c.add(f.g.Type(m).Addr, m)
			}
		}
		f.part[items] = true
		f.found = append(f.found, suspect{kind: answer.SuspectRootScope, point: n, owner: graph.NoNode, retained: f.doms.Retained(items), typ: most,
			count: types[most].count, size: types[most].size, elements: answer.Known(uint64(len(list))), targets: c})
	})
}

// weakReferences finds collections with mostly dead weak references.
func (f *finder) weakReferences(ctx context.Context) error {
	c := weakCounter{f: f, by: map[graph.Node]*weakCount{}, tops: map[graph.Node]graph.Node{}}
	seen := 0
	err := f.living(ctx, patternWeak, func(n graph.Node) {
		if seen++; seen <= maxWeak {
			c.count(n)
		}
	})
	for _, point := range c.order {
		w := c.by[point]
		if w.dead < uint64(f.o.Count) || float64(w.dead) < minShare*float64(w.all) {
			continue
		}
		f.part[point] = true
		f.found = append(f.found, suspect{kind: answer.SuspectWeak, point: point, owner: f.ownerOf(point), retained: f.doms.Retained(point),
			typ: f.g.TypeIndex(w.first), count: w.all, size: w.size, elements: answer.Known(w.all), atLeast: seen > maxWeak, dead: w.dead})
	}
	return err
}

// A weakCount counts the weak references that one object owns.
type weakCount struct {
	all, dead, size uint64
	first           graph.Node
}

// A weakCounter counts weak references by their owner.
type weakCounter struct {
	f     *finder
	by    map[graph.Node]*weakCount
	order []graph.Node // in order of discovery
	tops  map[graph.Node]graph.Node
	steps int
}

func (c *weakCounter) count(n graph.Node) {
	f := c.f
	point := c.collection(f.doms.Idom(n))
	if !f.g.IsObject(point) {
		return
	}
	o, err := f.object(n)
	if err == nil {
		o, err = f.b.Weak(o)
	}
	if err != nil {
		f.missing(n, err)
		return
	}
	w := c.by[point]
	if w == nil {
		w = &weakCount{first: n}
		c.by[point] = w
		c.order = append(c.order, point)
	}
	w.all++
	w.size += f.doms.Retained(n)
	to, ok := f.g.Node(o.Addr)
	if o.Addr == 0 || ok && !f.a.Incomplete && !f.live.Live(to) {
		w.dead++
	}
}

// collection returns the collection of a weak reference, given the reference's owner: the owner if it is an array, else
// what owns the owner. For a chain of nodes it is the owner of the first node, or that node itself.
func (c *weakCounter) collection(n graph.Node) graph.Node {
	f := c.f
	if !f.g.IsObject(n) || f.g.Type(n).IsArray() {
		return n
	}
	var passed []graph.Node
	at := n
	for found := false; !found; {
		top, known := c.tops[at]
		if known {
			at = top
			break
		}
		passed = append(passed, at)
		up := f.doms.Idom(at)
		if !f.g.IsObject(up) {
			break // the first node represents the collection
		}
		c.steps++
		found = c.steps > maxKept || f.g.TypeIndex(up) != f.g.TypeIndex(at)
		at = up
	}
	for _, p := range passed {
		c.tops[p] = at
	}
	return at
}

var errNoCollection = errors.New("not a known collection")

// elements returns a collection's own count of its elements.
func (f *finder) elements(owner, point graph.Node) answer.Maybe[uint64] {
	n := owner
	if n == graph.NoNode {
		n = point
	}
	none := answer.Missing[uint64](errNoCollection)
	if f.g.Type(n).IsArray() || f.typeName(n) == "" {
		return none // the missing name is recorded
	}
	o, err := f.object(n)
	if err != nil {
		return answer.Missing[uint64](err)
	}
	c, err := f.collections.Of(o)
	if err == nil && !c.IsText() {
		var count uint64
		if count, err = c.Count(); err == nil {
			return answer.Known(count)
		}
	}
	var unknown *objects.UnknownLayoutError
	if errors.As(err, &unknown) || err != nil && !errors.Is(err, target.ErrUnsupported) {
		f.missing(n, err)
	}
	return none
}

// finalization describes the objects awaiting finalization.
func (f *finder) finalization(ctx context.Context) error {
	out := &f.a.Finalizers
	ready, dead := newCounts(), newCounts()
	out.Known = answer.Known(true)
	h := f.g.Heap()
	for i := range h.SubHeaps() {
		q, err := h.FinalizerQueue(i)
		if err != nil {
			f.a.Note(err)
			out.Known = answer.Missing[bool](err)
			continue
		}
		for r, err := range h.FinalizerSlots(q.FReachable()) {
			f.waits(r, err, ready, func(graph.Node) bool { return true })
		}
		for r, err := range h.FinalizerSlots(q.Finalizable()) {
			f.waits(r, err, dead, func(n graph.Node) bool { return !f.live.Live(n) })
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	out.Ready, out.Dead = ready.sum(), dead.sum()
	out.ReadyTypes, out.DeadTypes = ready.rows(f, topTypes), dead.rows(f, topTypes)
	f.running(out)
	return nil
}

func (f *finder) waits(r heap.Reference, err error, c *counts, is func(graph.Node) bool) {
	f.a.Note(err)
	if err != nil {
		return
	}
	if n, ok := f.g.Node(r.Target); ok && is(n) {
		c.add(f.g.Type(n).Addr, n)
	}
}

// running describes the finalizer thread: its frames that hold objects.
func (f *finder) running(out *answer.Finalization) {
	for n := graph.Node(f.g.Objects()); n < f.g.Root(); n++ {
		s := f.g.Source(n)
		if s.Kind != graph.SourceFrame || s.Thread == nil || s.Thread.Managed == nil || !s.Thread.Managed.Finalizer || s.Frame.Method == nil {
			continue
		}
		name := f.x.Names().Text(&f.a.Gaps, n)
		if strings.Contains(name.S, ".Finalize(") {
			out.Running = append(out.Running, name)
		}
	}
}

func (c *counts) sum() (n uint64) {
	for _, t := range c.by {
		n += uint64(len(t))
	}
	return n
}
