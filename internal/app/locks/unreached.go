package locks

import (
	"context"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// manyForgotten is how many operations of a program must wait for promises that nothing can complete to be a finding, if they serve no request.
// One or two may wait so on purpose, until the process ends.
const manyForgotten = 3

// A search looks for the promises that code can still complete. The code that waits for a promise can't complete it, nor can what only that code
// refers to, so the search does not go on at a method that waits until it has found what the method waits for.
type search struct {
	g      *graph.Graph
	seen   []uint64                    // a bit for each node
	todo   []graph.Node                // reached, and to be followed
	found  map[graph.Node]bool         // promises that were reached
	of     map[graph.Node][]*operation // by promise: the operations that wait for it
	wants  map[graph.Node][]graph.Node // by method that waits: its promises
	path   map[*operation][]graph.Node // the methods of an operation
	awaits map[*operation]graph.Node   // its promise
}

// forgotten finds the operations that wait for promises of the program that no code can complete any more. It needs a whole heap.
func (s *survey) forgotten(ctx context.Context, build func() (*graph.Graph, error)) error {
	list := slices.DeleteFunc(slices.Clone(s.ops), func(op *operation) bool { return !op.own || op.idle() != "" || !s.promised(op) })
	few := len(list) < manyForgotten && !slices.ContainsFunc(list, func(op *operation) bool { return op.request != "" })
	if few || build == nil || s.lost || s.partial {
		return nil
	}
	g, err := build()
	if err != nil {
		s.gaps.Note(fmt.Errorf("which promises can be completed: %w", err))
		return ctx.Err()
	}
	used, done, err := g.Use(ctx)
	if err != nil {
		return err
	}
	defer done()
	x := search{g: g, seen: make([]uint64, g.Nodes()/64+1), found: map[graph.Node]bool{}, of: map[graph.Node][]*operation{}, wants: map[graph.Node][]graph.Node{},
		path: map[*operation][]graph.Node{}, awaits: map[*operation]graph.Node{}}
	for _, op := range list {
		x.add(op)
	}
	if !x.start() {
		return ctx.Err() // what can't be read may lead to the promises
	}
	if err := x.run(used); err != nil {
		return err
	}
	for _, op := range list {
		n, ok := x.awaits[op]
		op.forgotten = ok && !x.found[n] && slices.ContainsFunc(x.path[op], x.reached)
	}
	s.lastOfSeveral()
	return nil
}

// lastOfSeveral unmarks the operations that go on with the first of several tasks (Task.WhenAny) if nothing can complete any of those that are left. The
// operation of a method is there once for each of them.
func (s *survey) lastOfSeveral() {
	none := map[target.Addr]bool{} // by method: nothing can complete what it waits for
	for _, op := range s.ops {
		known, ok := none[op.box]
		none[op.box] = op.forgotten && (known || !ok)
	}
	for _, op := range s.ops {
		op.first = op.first && !none[op.box]
	}
}

// start begins at the roots, at the objects of weak handles, which code can still get, and at those with finalizers, which will run. It reports
// whether all of them could be read.
func (x *search) start() bool {
	h := x.g.Heap()
	for e, err := range h.Handles() {
		if err != nil {
			return false
		}
		if n, ok := x.g.Node(e.Object); ok && !e.Type.Strong() {
			x.reach(n)
		}
	}
	for i := range h.SubHeaps() {
		q, err := h.FinalizerQueue(i)
		if err != nil {
			return false
		}
		for slot, err := range h.FinalizerSlots(q.Finalizable()) {
			if err != nil {
				return false
			}
			if n, ok := x.g.Node(slot.Target); ok {
				x.reach(n)
			}
		}
	}
	x.reach(x.g.Root())
	return true
}

// promised reports whether an operation waits for a promise of the program: a task of the class Task itself. Libraries derive other classes,
// which they complete in ways of their own.
func (s *survey) promised(op *operation) bool {
	if op.thing.cause != tasks.CausePromise {
		return false
	}
	o, err := s.r.b.Objects().TrustedObject(op.leaf)
	if err != nil {
		return false
	}
	name, err := s.r.b.Definition(o.Type)
	return err == nil && (name == "System.Threading.Tasks.Task" || name == "System.Threading.Tasks.Task`1")
}

// add adds an operation. Its promise is the TaskCompletionSource if the heap has it, which alone completes the task, else the task.
func (x *search) add(op *operation) {
	promise := op.leaf
	if op.thing.source != 0 {
		promise = op.thing.source
	}
	n, ok := x.g.Node(promise)
	if !ok {
		return
	}
	x.awaits[op] = n
	x.of[n] = append(x.of[n], op)
	for _, a := range op.path {
		if at, ok := x.g.Node(a); ok && at != n {
			x.path[op] = append(x.path[op], at)
			x.wants[at] = append(x.wants[at], n)
		}
	}
}

func (x *search) reached(n graph.Node) bool { return x.seen[n/64]>>(n%64)&1 != 0 }

// reach adds a node once.
func (x *search) reach(n graph.Node) {
	if x.reached(n) {
		return
	}
	x.seen[n/64] |= 1 << (n % 64)
	x.todo = append(x.todo, n)
	if list := x.of[n]; list != nil {
		x.found[n] = true
		for _, op := range list {
			for _, at := range x.path[op] {
				if x.reached(at) {
					x.todo = append(x.todo, at) // it can go on now
				}
			}
		}
	}
}

// run follows references from what was reached.
func (x *search) run(ctx context.Context) error {
	for steps := 0; len(x.todo) > 0; steps++ {
		if steps%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n := x.todo[len(x.todo)-1]
		x.todo = x.todo[:len(x.todo)-1]
		if wants := x.wants[n]; len(wants) > 0 && !slices.ContainsFunc(wants, func(p graph.Node) bool { return x.found[p] }) {
			continue
		}
		for _, to := range x.g.Referents(n) {
			x.reach(to)
		}
	}
	return nil
}

// unreached describes the operations that wait for promises that nothing can complete.
func (g *grapher) unreached(groups []*waiters) []answer.Verdict {
	var out []answer.Verdict
	for _, w := range groups {
		n := 0
		var first target.Addr
		for _, op := range w.ops {
			if op.forgotten {
				if n++; n == 1 {
					first = op.box
				}
			}
		}
		if n == 0 || n < manyForgotten && w.Request == "" {
			continue
		}
		v := answer.Conclude(answer.FindingPromises, words.Forgotten.Of(words.N(n), words.Method(w.Method.String())), answer.StrengthProved, g.groupText(w), words.OnlyWaiters.Of())
		v.Count, v.Show = n, []string{"dumpasync -address " + addressText(first), "gcroot " + addressText(w.ops[0].leaf)}
		v.Sites = []answer.Site{{Method: w.Method, Does: string(w.thing.kind), Count: n}}
		if n < manyOnOne {
			v.Severity = answer.SeverityWarning
		}
		out = append(out, v)
	}
	return out
}
