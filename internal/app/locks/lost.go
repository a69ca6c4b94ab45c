package locks

import (
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/app/ilflow"
	"github.com/sosgo/sosgo/internal/app/locks/internal/reach"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// manyLost is the number of waiting threads or operations from which on the wait is a finding although no method that ends it directly has run, but one that
// calls such a method has.
const manyLost = 3

// mayBeLost reports whether waits that nobody can end would be a finding. Code that takes the next item or signal again and again may wait for ever: nobody
// suffers from it.
func (g *grapher) mayBeLost(d *dependent) bool {
	if len(d.waits)+len(d.ops) == 0 || slices.ContainsFunc(d.waits, func(w *wait) bool { return w.set() || g.circled[w] || !w.ofSystem() && !d.awaited }) {
		return false
	}
	switch {
	case d.meets():
		return d.lock.signaled // without any signal the wait may be without an end on purpose
	case d.atEntry(g.s.mainCalls):
		return false // for the end of the program: nobody suffers from it
	case d.lock != nil && d.pulse:
		return !d.lock.Held && d.lock.owner == nil && g.unpulsed(d)
	case d.lock != nil && d.lock.Kind == answer.LockSemaphore:
		u := g.s.uses[d.lock]
		if u != nil && (u.gives || u.blindWaiters || u.partial || u.unread+u.blind+len(u.holders)+len(u.inside)+len(u.hiding) > 0) {
			return false // it may pass from one to the next
		}
	}
	if slices.ContainsFunc(d.ops, func(op *operation) bool { return op.forgotten }) {
		return false // that is proved, and said
	}
	loops := map[*tasks.AwaitPoint]ilflow.AwaitLoop{}
	return d.lasts && (d.awaited || !slices.ContainsFunc(d.waits, g.s.takesNext)) &&
		!slices.ContainsFunc(d.ops, func(op *operation) bool { return op.entry || op.idle() != "" || g.s.turnOf(op, loops) != noTurn })
}

// atEntry reports whether nothing waits but a single thread in what the program's entry point calls, as calls reports it.
func (d *dependent) atEntry(calls func(*stackwalk.Thread) bool) bool {
	return len(d.ops) == 0 && len(d.waits) == 1 && calls(d.waits[0].thread)
}

// meets reports whether the wait is for a Barrier or CountdownEvent.
func (d *dependent) meets() bool { return d.lock != nil && d.lock.meets() }

// ofSystem reports whether the program has called a wait of System.Threading itself.
func (w *wait) ofSystem() bool { return !w.library && strings.HasPrefix(w.called, "System.Threading.") }

// takesNext reports whether a thread waits in a loop that neither counts nor takes one element after the other: in the innermost method of the program, or
// further out where nothing in the turn before has taken what the thread works on.
func (s *survey) takesNext(w *wait) bool {
	if _, err := s.code.Frames(); err != nil {
		return true
	}
	takes, known := s.knownToTakeNext(w)
	return takes || !known
}

// knownToTakeNext is takesNext for a thread with frames that may be unreadable. known is false if these decide.
func (s *survey) knownToTakeNext(w *wait) (takes, known bool) {
	inner, partly := true, s.code.Partly(w.thread)
	for _, f := range s.code.Of(w.thread) {
		if f.At < 0 || f.Loops && s.turns(f, inner) {
			return true, true
		}
		inner = false
	}
	return inner && !partly, !partly // without a frame, no method of the program is on the stack
}

// turns reports whether a loop around the place of a frame is without an end of its own, and has nothing before that place that takes an item, if not inner.
func (s *survey) turns(f *reach.Frame, inner bool) bool {
	body, err := dac.CodeOf(f.Frame.Runtime).IL(f.Method)
	if err != nil {
		return true
	}
	meta, err := f.Method.Metadata()
	if err != nil {
		return true
	}
	g, err := ilflow.ReadFlow(&body)
	if err != nil {
		return true
	}
	loops, err := ilflow.Around(body.Code, f.At)
	if err != nil {
		return true
	}
	around, err := s.around(f.Thread, &f.Frame, f.Method)
	if err != nil {
		return true
	}
	for start, end := range loops {
		member := func(t metadata.Token) string { return tasks.MemberName(meta, t) }
		if g.Counts(start, end, member) || inner && g.Retests(start, end, member) {
			continue
		}
		if inner || !slices.ContainsFunc(around.Before, func(call tasks.Call) bool { return call.Offset >= start && getsWork(call.Method) }) {
			return true
		}
	}
	return false
}

// getsWork reports whether a method has a name by which queues, listeners and streams give what is to be worked on.
func getsWork(method string) bool {
	_, name, _ := strings.Cut(method, ".")
	return slices.ContainsFunc([]string{"Take", "TryTake", "Dequeue", "TryDequeue", "Accept", "Receive", "Read", "Get"}, func(verb string) bool {
		return strings.HasPrefix(name, verb) && !strings.HasPrefix(name, "get_")
	})
}

// unpulsed reports whether no thread that waits for a pulse of a monitor has got one, and their code does not wait only while a collection is empty.
func (g *grapher) unpulsed(d *dependent) bool {
	s := g.s
	for _, w := range d.waits {
		f, err := s.waitsIn(w.thread)
		if err != nil || f == nil {
			return false
		}
		if o, _, err := s.emptyWhile(w.thread, &f.Frame, f.Method); err != nil || o.Addr != 0 {
			return false
		}
	}
	return s.nonePulsed(d)
}

// nonePulsed reports whether the monitor still lists all threads that wait for a pulse of it, and no thread has it.
func (s *survey) nonePulsed(d *dependent) bool {
	for b, err := range s.r.rt.SyncBlocks() {
		if err == nil && b.Object == d.lock.Address {
			n, err := s.r.rt.Unpulsed(&b)
			return err == nil && int(n) == len(d.waits) && b.Waiters == 0 && !b.Held
		}
	}
	return false
}

// lost describes waits that no code can end any more, by what the threads and the code that can still run lead to. It returns nil where they may be so on
// purpose.
func (g *grapher) lost(d *dependent, groups []*waiters) *answer.Verdict {
	r, n := d.reach, len(d.waits)+len(d.ops)
	switch {
	case d.orphan:
	case g.ofLibrary(d):
		return nil // its own code ends the wait, in which nothing was sought
	case d.pulse && len(d.waits) > 1 && len(r.Threads) > 0 && g.onlyTheirs(d): // each would wake another
	case d.pulse && slices.ContainsFunc(d.waits, g.s.takesNext):
		return nil // others have done so, and may have had their last turn on purpose
	case !d.meets() && !(n >= manyLost && r.Leads.Ran(false)) && !r.Leads.Ran(true):
		return nil // what ends the wait was never begun
	}
	thing := d.thing
	switch {
	case d.alike > 1 || len(d.ops) > 0:
	case d.meets():
		state := d.lock.Counts
		if !d.lock.arrived.IsZero() {
			state = d.lock.arrived
		}
		thing = words.ThingInState.Of(thing, state)
	case d.lock != nil && d.lock.Kind == answer.LockSemaphore:
		thing = thing.Plus(words.CommaState.Of(d.lock.Counts))
	}
	says := g.said(d, thing)
	kind := answer.FindingWait
	switch {
	case d.lock != nil && d.lock.Kind == answer.LockSemaphore:
		kind = answer.FindingPermits
	case len(d.ops) > 0 && d.ops[0].thing.kind == answer.WaitPromise, len(d.ops) == 0 && g.promiseOf(d.waits[0]) != 0:
		kind = answer.FindingPromises
	}
	v := answer.Conclude(kind, says, answer.StrengthLikely, g.evidencesOf(d)...)
	for _, w := range groups {
		if slices.ContainsFunc(w.ops, func(op *operation) bool { return slices.Contains(d.ops, op) }) {
			v.Because(g.groupText(w))
		}
	}
	switch {
	case d.orphan:
		v.Statement = v.Plus(words.NobodyHas.Of())
		v.Because(words.OnlyWaitersEnd.Of())
	case len(r.Threads) > 0:
		v.Statement = v.Plus(words.NobodyElseEnds.Of(words.Text(d.does)))
	default:
		v.Statement = v.Plus(words.NobodyEnds.Of(words.Text(d.does)))
	}
	if d.pulse {
		v.Because(words.InPulseList.Of(words.N(n)))
	}
	if !d.orphan {
		v.Because(words.SignalsIL.Of())
	}
	v.Rests = words.Searched
	v.Severity = answer.SeverityWarning
	if len(d.waits) >= manyLost || len(d.ops) >= manyOnOne {
		v.Severity = answer.SeverityHigh
	}
	v.Count, v.Sites, v.Thing, v.Waiting = n, g.sites(d.waits), d.thing.Text, boxes(d.ops)
	v.Class = g.s.classes[d.object]
	v.Show = []string{"dumpobj " + addressText(d.object)}
	g.markDescribed(d)
	g.lostThings[d.object] = true
	if len(d.waits) > 0 {
		v.Show = append(v.Show, g.show(d.waits[0])...)
	}
	if len(d.ops) > 0 {
		v.Sites = append(v.Sites, answer.Site{Method: d.ops[0].method, Does: string(d.ops[0].thing.kind), Count: len(d.ops)})
		v.Show = append(v.Show, "dumpasync -address "+addressText(d.ops[0].box))
	}
	return &v
}

// ofLibrary reports whether what is waited for is in a field of a library's class.
func (g *grapher) ofLibrary(d *dependent) bool {
	class := g.s.classes[d.object]
	return class != "" && answer.LibraryMethod(class+".")
}

// onlyTheirs reports whether all code that would end the waits belongs to the threads that wait, or is called by nothing but their methods.
func (g *grapher) onlyTheirs(d *dependent) bool {
	only, err := d.reach.Leads.OnlyThrough(g.s.ctx, g.s.r.heap, g.s.methodsOn(d.has))
	return only && err == nil
}

// orphans selects the waits of several threads for what nothing leads to but variables of threads that wait so: no code can end them.
func (g *grapher) orphans(list []dependent) []dependent {
	s := g.s
	list = slices.DeleteFunc(list, func(d dependent) bool {
		return len(d.ops) > 0 || len(d.waits) < manyLost || d.pulse && slices.ContainsFunc(d.waits, s.takesNext)
	})
	if len(list) == 0 {
		return nil
	}
	live, ctx, done := s.code.WholeGraph()
	if live == nil {
		return nil
	}
	defer done()
	for before := 0; before != len(list); {
		before = len(list)
		seen := s.code.Later(ctx, live, func(n graph.Node) bool {
			src := live.Source(n)
			return src != nil && src.Thread != nil && slices.ContainsFunc(list, func(d dependent) bool { return d.has(src.Thread) })
		})
		list = slices.DeleteFunc(list, func(d dependent) bool {
			n, ok := live.Node(d.object)
			return seen == nil || !ok || seen.Has(n)
		})
	}
	for i := range list {
		list[i].orphan = true
	}
	return list
}

// methodsOn returns the methods of the program on the stacks of some threads.
func (s *survey) methodsOn(some func(*stackwalk.Thread) bool) (out []*dac.MethodDesc) {
	list, _ := s.code.Frames() // what could be read
	for _, f := range list {
		if some(f.Thread) {
			out = append(out, f.Method)
		}
	}
	return out
}

// ownHandle reports whether a WaitHandle is an event or a Semaphore to which native code and other objects of the process have no handle.
func (s *survey) ownHandle(o objects.Object) bool {
	if !s.unnamedHandle(o) {
		return false
	}
	shares, err := s.found.tasks.Names("WaitHandle.get_SafeWaitHandle", "WaitHandle.set_SafeWaitHandle", "WaitHandle.get_Handle", "WaitHandle.set_Handle", "WaitHandleExtensions.GetSafeWaitHandle",
		"WaitHandleExtensions.SetSafeWaitHandle")
	return err == nil && !shares
}

// unnamedHandle reports whether a WaitHandle is an event or a Semaphore without a name. Only on Windows may it have one: a name of these is an error elsewhere.
func (s *survey) unnamedHandle(o objects.Object) bool {
	name, err := s.r.b.Definition(o.Type)
	if err != nil {
		return false
	}
	switch name {
	case "System.Threading.ManualResetEvent", "System.Threading.AutoResetEvent":
	case "System.Threading.EventWaitHandle", "System.Threading.Semaphore":
		if os := s.r.process.Platform().OS; os != target.OSLinux && os != target.OSDarwin {
			return false
		}
	default:
		return false
	}
	return true
}
