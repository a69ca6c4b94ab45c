package locks

import (
	"context"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Bounds of the objects that are followed from a BlockingCollection to what its items refer to, and from the variables of a thread.
const (
	maxItemNodes     = 1 << 14
	maxVariableNodes = 1 << 8
)

// promiseOf returns the TaskCompletionSource with the promise that alone lets a blocked thread go on, or 0.
func (g *grapher) promiseOf(w *wait) target.Addr {
	if len(w.tasks) != 1 || len(w.runners) > 0 || w.async || w.ready || len(w.leaves) != 1 || w.leaves[0].cause != tasks.CausePromise {
		return 0
	}
	return g.s.sources[w.leaves[0].addr]
}

// havers returns the threads that alone end a wait: code gets to what ends it, enders, only by taking an item from a BlockingCollection, or by a variable of
// a thread, and these threads take from that collection or have that variable, or are among others. The thread that waits is one only if no other is: then it never
// takes the item. It sets the wait's gets. It returns nil if there are no such threads, or if that is not known.
func (g *grapher) havers(w *wait, enders []target.Addr, others []*stackwalk.Thread) []*stackwalk.Thread {
	s := g.s
	if len(enders) == 0 {
		return nil
	}
	live, ctx, done := s.code.WholeGraph()
	if live == nil {
		return nil
	}
	defer done()
	var nodes []graph.Node
	for _, a := range enders {
		n, ok := live.Node(a)
		if !ok {
			return nil
		}
		nodes = append(nodes, n)
	}
	queues := g.itemsIn(live, nodes)
	threads := g.variablesOf(live, w, nodes, queues)
	if len(queues)+len(threads) == 0 || s.reaches(ctx, live, nodes, func(n graph.Node) bool {
		src := live.Source(n)
		return queues[n] != 0 || src != nil && src.Thread != nil && (src.Thread == w.thread || g.of[src.Thread].waitsAlike(w) || slices.Contains(threads, src.Thread))
	}) {
		return nil
	}
	gets, anew := map[*stackwalk.Thread]target.Addr{}, false
	for _, q := range queues {
		takers, again := g.onlyTakers(q)
		if takers == nil {
			return nil
		}
		anew = anew || again
		for _, t := range takers {
			gets[t] = q
		}
	}
	for _, t := range threads {
		gets[t] = 0
	}
	if len(gets) > 1 || gets[w.thread] == 0 { // else it would have to take the item itself
		delete(gets, w.thread)
	}
	if len(gets) == 0 {
		return nil
	}
	var out []*stackwalk.Thread
	for i := range s.r.threads {
		t := &s.r.threads[i]
		if _, ok := gets[t]; ok || slices.Contains(others, t) {
			out = append(out, t)
		}
	}
	if !alone(gets, out) {
		return nil
	}
	w.gets, w.anew = gets, anew
	return out
}

// mayEnd reports whether a thread that waits itself can end a wait later by a variable that leads to what would: not if it waits for the same thing. A monitor in
// a variable gives no pulse by itself: each thread that uses the monitor has one.
func (w *wait) mayEnd(other *wait) bool { return !other.pulse && !w.waitsAlike(other) }

// alone reports whether a thread with a variable that leads to what ends a wait is the only one that would end it. gets has no collection for such a thread.
func alone(gets map[*stackwalk.Thread]target.Addr, enders []*stackwalk.Thread) bool {
	return len(enders) == 1 || !slices.ContainsFunc(enders, func(t *stackwalk.Thread) bool { q, ok := gets[t]; return ok && q == 0 })
}

// itemsIn returns the BlockingCollections with items that lead to all the nodes, and that a waiting thread takes from.
func (g *grapher) itemsIn(live *graph.Graph, nodes []graph.Node) map[graph.Node]target.Addr {
	out := map[graph.Node]target.Addr{}
	for _, c := range g.s.bounded {
		n, ok := live.Node(c.collection)
		if c.items && ok && g.s.leadsTo(live, []graph.Node{n}, nodes, maxItemNodes, nil) &&
			slices.ContainsFunc(g.takersOf(c.collection), func(h holder) bool { return h.thread != nil && g.of[h.thread] != nil }) {
			out[n] = c.collection
		}
	}
	return out
}

// variablesOf returns the other threads that wait and have variables that lead to all the nodes, not through a queue.
func (g *grapher) variablesOf(live *graph.Graph, w *wait, nodes []graph.Node, queues map[graph.Node]target.Addr) (out []*stackwalk.Thread) {
	roots := map[*stackwalk.Thread][]graph.Node{}
	for n := range live.Nodes() {
		if src := live.Source(graph.Node(n)); src != nil && src.Thread != nil && src.Thread != w.thread && g.of[src.Thread] != nil && g.of[src.Thread].mayEnd(w) {
			roots[src.Thread] = append(roots[src.Thread], graph.Node(n))
		}
	}
	for i := range g.s.r.threads {
		if t := &g.s.r.threads[i]; g.s.leadsTo(live, roots[t], nodes, maxVariableNodes, queues) {
			out = append(out, t)
		}
	}
	return out
}

// reaches reports whether code that runs later may find one of the nodes but for those at which the search does not go on. Without a full search it may.
func (s *survey) reaches(ctx context.Context, g *graph.Graph, nodes []graph.Node, without func(graph.Node) bool) bool {
	seen := s.code.Later(ctx, g, without)
	return seen == nil || slices.ContainsFunc(nodes, seen.Has)
}

// lists reports whether a method gets the items of a BlockingCollection without taking them.
func lists(method string) bool {
	class, name, _ := strings.Cut(method, ".")
	return strings.HasPrefix(class, "BlockingCollection") && (name == "ToArray" || name == "CopyTo")
}

// onlyTakers returns the threads that take from a BlockingCollection, or nil if other code may, too. anew reports that a library may call their methods again, on other
// threads.
func (g *grapher) onlyTakers(q target.Addr) (out []*stackwalk.Thread, anew bool) {
	sought := func(method string) (target.Addr, bool) {
		if strings.HasPrefix(method, "BlockingCollection") && strings.HasSuffix(method, "FromAny") { // its argument is an array of them
			return 0, true
		}
		return q, takes(method) || lists(method)
	}
	takers := g.takersOf(q)
	isTaker := func(t *stackwalk.Thread) bool {
		return slices.ContainsFunc(takers, func(h holder) bool { return h.thread == t })
	}
	r, err := g.s.code.Callers(sought)
	if err != nil || r == nil || r.Outside && (r.Leads.Goes(g.s.ctx, g.s.set) || len(g.s.code.ByDelegate(r.Leads, sought)) > 0 || !r.Leads.Only(g.s.methodsOn(isTaker))) {
		return nil, false
	}
	for _, h := range takers {
		if h.thread == nil {
			return nil, false
		}
		if !slices.Contains(out, h.thread) {
			out = append(out, h.thread)
		}
	}
	for i := range g.s.r.threads {
		if t := &g.s.r.threads[i]; r.Threads[t] && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if n, err := g.s.enumeratorsOf(q); err != nil || n > len(out) {
		return nil, false // another thread or a suspended method may have one
	}
	return out, r.Leads.Open
}

// nameQueues names the BlockingCollections with what would end waits.
func (g *grapher) nameQueues() error {
	wanted := map[target.Addr]bool{}
	for _, w := range g.s.waits {
		for _, q := range w.gets {
			if q != 0 && g.s.names[q] == "" {
				wanted[q] = true
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	names, err := flows.Names(g.s.ctx, g.s.r.b, g.s.r.heap, wanted, flows.NamesOptions{Walk: true})
	g.s.gaps.Note(err)
	for a, name := range names {
		g.s.names[a], g.s.classes[a] = name.Text, name.Class
	}
	return g.s.ctx.Err()
}

// leadsTo reports whether references lead from nodes to all of others within a number of nodes, and not through some.
func (s *survey) leadsTo(g *graph.Graph, from, to []graph.Node, most int, through map[graph.Node]target.Addr) bool {
	seen, todo, left := map[graph.Node]bool{}, from, len(to)
	for i := 0; i < len(todo) && left > 0 && i < most; i++ {
		for n := range s.code.Referents(g, todo[i]) {
			if !g.IsObject(n) || seen[n] || through[n] != 0 {
				continue
			}
			seen[n] = true
			todo = append(todo, n)
			if slices.Contains(to, n) {
				left--
			}
		}
	}
	return left == 0
}
