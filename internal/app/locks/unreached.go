package locks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// manyForgotten is how many operations of a program must wait for what nothing can end to be a finding, if they serve no request and stop nothing.
// One or two may wait so on purpose, until the process ends.
const manyForgotten = 3

// A search looks for the objects by which code can still end waits, such as promises. The code that waits for a promise can't complete it, nor can what
// only that code refers to, so the search does not go on at a method that waits until it has found what ends its wait.
type search struct {
	s      *survey
	g      *graph.Graph
	seen   []uint64                    // a bit for each node
	todo   []graph.Node                // reached, and to be followed
	found  map[graph.Node]bool         // enders that were reached
	of     map[graph.Node][]*operation // by ender: the operations with waits that it ends
	wants  map[graph.Node][]graph.Node // by method that waits: its enders
	path   map[*operation][]graph.Node // the methods of an operation
	enders map[*operation][]graph.Node // the objects by which code can end its wait
}

// forgotten finds the operations with waits that no code can end any more. It needs a whole heap.
func (s *survey) forgotten(ctx context.Context, build func() (*graph.Graph, error)) error {
	var list []*operation
	enders := map[*operation][]target.Addr{}
	for _, op := range s.ops {
		if by := s.enders(op); by != nil {
			list = append(list, op)
			enders[op] = by
		}
	}
	few := len(list) < manyForgotten && !slices.ContainsFunc(list, func(op *operation) bool { return op.request != "" || op.stops != "" })
	if few || build == nil || s.lost || s.partial {
		return nil
	}
	g, err := build()
	if errors.Is(err, errHoles) {
		return nil
	}
	if err != nil {
		s.gaps.Note(fmt.Errorf("which waits can end: %w", err))
		return ctx.Err()
	}
	used, done, err := g.Use(ctx)
	if err != nil {
		return err
	}
	defer done()
	x := search{s: s, g: g, seen: make([]uint64, g.Nodes()/64+1), found: map[graph.Node]bool{}, of: map[graph.Node][]*operation{}, wants: map[graph.Node][]graph.Node{},
		path: map[*operation][]graph.Node{}, enders: map[*operation][]graph.Node{}}
	for _, op := range list {
		x.add(op, enders[op])
	}
	if !x.start() {
		return ctx.Err() // what can't be read may lead to them
	}
	if err := x.run(used); err != nil {
		return err
	}
	for _, op := range list {
		by := x.enders[op]
		op.forgotten = len(by) > 0 && !slices.ContainsFunc(by, x.reached) && slices.ContainsFunc(x.path[op], x.reached)
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

// start begins at the roots, and at what code can get without them. It reports whether all of it could be read.
func (x *search) start() bool {
	for n, err := range x.s.code.Unrooted(x.g) {
		if err != nil {
			return false
		}
		x.reach(n)
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

// enders returns the objects by which code can end the wait of an operation of the program, or nil if the wait is normal or may end in another way.
func (s *survey) enders(op *operation) []target.Addr {
	t := op.thing
	if !op.own || op.limited || op.entry && op.from == "" || slices.Contains(op.library, timedWait) {
		return nil
	}
	switch {
	case s.promised(op) && op.idle() == "":
		return []target.Addr{cmp.Or(t.source, op.leaf)} // if the heap has the TaskCompletionSource, it alone completes the task
	case t.lock != nil && t.lock.Kind == answer.LockSemaphore && t.lock.count <= 0:
		return []target.Addr{t.lock.Address}
	case t.channel != nil && t.channel.kind == &channelKind && !t.writes && t.channel.items.Value == 0:
		return []target.Addr{t.channel.object.Addr, op.leaf} // a token's callback refers to the operation
	case t.cause == tasks.CauseStream && t.says.Text == words.PipeData.Of().Text:
		if p := s.pipeOf(op.leaf); p != 0 {
			return []target.Addr{p, op.leaf}
		}
	}
	return nil
}

// add adds an operation with what ends its wait.
func (x *search) add(op *operation, enders []target.Addr) {
	var by []graph.Node
	for _, a := range enders {
		n, ok := x.g.Node(a)
		if !ok {
			return
		}
		by = append(by, n)
	}
	x.enders[op] = by
	for _, n := range by {
		x.of[n] = append(x.of[n], op)
	}
	for _, a := range op.path {
		if at, ok := x.g.Node(a); ok && !slices.Contains(by, at) {
			x.path[op] = append(x.path[op], at)
			x.wants[at] = append(x.wants[at], by...)
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

// unreached describes the operations that wait for what nothing can end, except for those that other conclusions explain.
func (g *grapher) unreached(groups []*waiters, told map[*waiters]bool) []answer.Verdict {
	var out []answer.Verdict
	for _, w := range groups {
		var list []*operation
		stops := ""
		for _, op := range w.ops {
			if op.forgotten && !g.failed[op] && (op.wait == nil || !g.circled[op.wait]) {
				list = append(list, op)
				stops = cmp.Or(stops, op.stops)
			}
		}
		if n := len(list); n == 0 || n < manyForgotten && w.Request == "" && stops == "" || told[w] && w.thing.kind != answer.WaitPromise {
			continue
		}
		out = append(out, g.forgotten(w, list, stops))
	}
	return out
}

// forgotten describes operations of a group with waits that nothing can end. stops is what never stops for that reason, or "".
func (g *grapher) forgotten(w *waiters, list []*operation, stops string) answer.Verdict {
	n, method, t := words.N(len(list)), words.Method(w.Method.String()), w.thing
	kind, says, why := answer.FindingWait, words.Unended.Of(n, method, g.thingText(t)), words.OnlyWaitersEnd.Of()
	switch {
	case t.lock != nil:
		kind = answer.FindingPermits
	case t.kind == answer.WaitPromise:
		kind, says, why = answer.FindingPromises, words.Forgotten.Of(n, method), words.OnlyWaiters.Of()
	}
	v := answer.Conclude(kind, says, answer.StrengthProved, g.groupText(w), why)
	v.Severity = answer.SeverityHigh
	if stops != "" {
		v.Statement = v.Plus(words.NeverStops.Of(words.Method(stops)))
	} else if len(list) < manyOnOne {
		v.Severity = answer.SeverityWarning
	}
	v.Count, v.Show = len(list), []string{"dumpasync -address " + addressText(list[0].box), "gcroot " + addressText(cmp.Or(t.addr, list[0].leaf))}
	v.Sites = []answer.Site{{Method: w.Method, Does: string(t.kind), Count: len(list)}}
	v.Thing, v.Waiting = g.thingText(t).Text, boxes(list)
	return v
}
