package locks

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// idleShapes are the normal waits of a process without work. The first that matches counts.
var idleShapes = []struct {
	reason string
	is     func(*operation) bool
}{
	{acceptsClients, func(op *operation) bool {
		return op.thing.cause == tasks.CauseStream && op.through(".AcceptAsync", "<WaitForConnectionAsync>", "SocketConnectionListener.", "ConnectionDispatcher`1.", "TransportManager.")
	}},
	{"waits until the host stops", func(op *operation) bool {
		return op.waits(tasks.CausePromise, tasks.CauseForever) && (op.through("Microsoft.Extensions.Hosting.") || !op.own && strings.HasPrefix(op.from, "Microsoft.Extensions.Hosting."))
	}},
	{entryWaits, func(op *operation) bool {
		return op.entry && op.from == "" && op.waits(tasks.CausePromise, tasks.CauseForever, tasks.CauseUnknown)
	}},
	{"waits for an item in an empty channel", func(op *operation) bool {
		c := op.thing.channel
		return op.thing.cause == tasks.CauseChannelRead && (c == nil || c.items.Err() != nil || c.items.Value == 0)
	}},
	{"waits for a message (MailboxProcessor)", func(op *operation) bool { return op.waits(tasks.CauseMessage) }},
	{"waits for the next tick of a timer", func(op *operation) bool { return op.waits(tasks.CauseTick) }},
	{"sleeps (Task.Delay, Async.Sleep)", func(op *operation) bool { return op.waits(tasks.CauseDelay) }},
	{"waits until it is canceled (infinite Task.Delay)", func(op *operation) bool { return op.waits(tasks.CauseForever) }},
	{"waits for data or connections in library code", func(op *operation) bool {
		return !op.own && op.waits(tasks.CauseStream, tasks.CausePromise, tasks.CauseTasks, tasks.CauseUnknown)
	}},
}

// acceptsClients is the reason why the wait of a server without clients is normal.
const acceptsClients = "accepts connections"

// entryWaits is the reason why the wait of an async Main is normal.
const entryWaits = "the program's entry point waits"

// waits reports whether an operation waits for one of the causes, and for no object that others can wait for.
func (op *operation) waits(causes ...tasks.Cause) bool {
	return op.thing.addr == 0 && slices.Contains(causes, op.thing.cause)
}

// through reports whether the name of a library method in front of the program's own contains one of the parts.
func (op *operation) through(parts ...string) bool {
	return slices.ContainsFunc(op.library, func(name string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
	})
}

// idle returns why the wait of an operation is normal, or "".
func (op *operation) idle() string {
	if op.forgotten {
		return ""
	}
	for i := range idleShapes {
		if idleShapes[i].is(op) {
			return idleShapes[i].reason
		}
	}
	return ""
}

// An idleCount counts normal waits by reason.
type idleCount struct{ list []answer.IdleWaits }

func (c *idleCount) add(reason string, method answer.Text, first target.Addr) {
	for i := range c.list {
		if c.list[i].Reason == reason {
			c.list[i].Count++
			return
		}
	}
	c.list = append(c.list, answer.IdleWaits{Count: 1, Reason: reason, Method: method, First: first})
}

// sorted returns the counts, the most frequent first.
func (c *idleCount) sorted() []answer.IdleWaits {
	slices.SortStableFunc(c.list, func(a, b answer.IdleWaits) int { return cmp.Compare(b.Count, a.Count) })
	return c.list
}

// entryIdles reports whether the program's entry point waits as in every service: for nothing that is held or running.
func (w *wait) entryIdles() bool {
	return w.entry && len(w.runners) == 0 && len(w.behind) == 0 && !slices.ContainsFunc(w.leaves, func(l leafOf) bool {
		switch l.cause {
		case tasks.CausePromise, tasks.CauseForever, tasks.CauseDelay, tasks.CauseTick, tasks.CauseUnknown:
			return l.held
		}
		return true
	})
}

// joinsWorkers reports whether the program's entry point joins a thread that waits for work: for a signal that anybody may
// give, and for nothing that is held.
func (g *grapher) joinsWorkers(w *wait) bool {
	if !w.join || !g.s.runsMain(w.thread) {
		return false
	}
	return !slices.ContainsFunc(w.runners, func(t *stackwalk.Thread) bool {
		n := g.of[t]
		switch {
		case n == nil || n.outside != nil || n.lock != nil && g.rows[t].Soon:
			return false
		case len(n.runners) > 0 || len(n.behind) > 0 || len(n.tasks) > 0 || n.class != 0 || n.join || n.serves != "" || n.unread != "":
			return true
		case n.lock == nil:
			is, err := objects.IsShape[*mutex](g.s.r.b, n.object.Type)
			return is || err != nil
		case n.lock.Kind == answer.LockSemaphore:
			collection, _ := g.fullCollection(n)
			return collection != 0 || g.s.releases(n) != nil
		}
		return !n.pulse && n.lock.Kind != answer.LockEvent
	})
}

// awaitsWorkers reports whether the program's entry point waits for several tasks that threads run which go on, also in a loop without end that calls
// something: they are its workers.
func (g *grapher) awaitsWorkers(w *wait) bool {
	calls := func(*tasks.Call) bool { return true }
	return len(w.tasks) > 1 && len(w.runners) > 0 && g.s.runsMain(w.thread) && !slices.ContainsFunc(w.runners, func(t *stackwalk.Thread) bool { return !g.goesOn(t, calls) })
}

// runsMain reports whether the outermost method of the program on a thread's stack is its entry point.
func (s *survey) runsMain(t *stackwalk.Thread) (main bool) {
	for md := range s.methodsOf(t) {
		name, err := md.Name()
		main = err == nil && slices.Contains(entryPoints, name)
	}
	return main
}

// mainWaits reports whether the program's entry point waits, or a method that it calls, in a thread without a message loop.
func (g *grapher) mainWaits(w *wait) bool {
	return w.entry || g.s.mainCalls(w.thread) && g.s.postsTo(w.thread) == ""
}

// mainCalls reports whether the program's entry point calls the method in which a thread waits, with nothing but methods of the program between
// them, or of the class library by which a method calls another one: Main runs a service and waits for its end. A handler of a message loop is called by
// a library, too.
func (s *survey) mainCalls(t *stackwalk.Thread) bool {
	if t.OS == nil || t.Managed == nil {
		return false
	}
	program, main := false, false
	for f := range s.r.walker.Walk(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		if f.Missing() != nil {
			return false
		}
		md, err := f.Method()
		if f.Kind != stackwalk.FrameManaged || err == nil && md == nil {
			continue
		}
		name := ""
		if err == nil {
			name, err = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
		}
		switch own := err == nil && !answer.LibraryMethod(name); {
		case err != nil, main, program && !own && !handsOn(name): // a caller of Main is no entry point's
			return false
		case own:
			program, main = true, isEntryPoint(name)
		}
	}
	return main
}

// handing begins the names of the methods of the class library that call a delegate or a method once, or once for each element, and no message loop.
var handing = []string{"ILStubClass.", "DynamicClass.InvokeStub_", "System.Reflection.", "System.RuntimeMethodHandle.", "System.Delegate.", "System.MulticastDelegate.", "System.Lazy",
	"System.Threading.ExecutionContext.", "System.Threading.LazyInitializer.", "System.Collections.Generic.List", "System.Array.", "System.Linq."}

// handsOn reports whether a method of the class library hands on to a method that its caller gives it.
func handsOn(method string) bool {
	return slices.ContainsFunc(handing, func(prefix string) bool { return strings.HasPrefix(method, prefix) })
}

// libraryIdles reports whether a library's own thread waits for an event, a pulse or a handle, as a loop without work
// does.
func (w *wait) libraryIdles() bool {
	if !w.library || w.outside != nil || len(w.runners) > 0 || len(w.behind) > 0 || w.class != 0 || w.join || len(w.tasks) > 0 {
		return false
	}
	return w.pulse || w.lock == nil || w.lock.Kind == answer.LockEvent || w.lock.Kind == answer.LockSemaphore
}

// A leafOf is what the methods between a thread and an awaited task wait for.
type leafOf struct {
	addr  target.Addr
	cause tasks.Cause
	held  bool // an object that others can hold
}
