package locks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
)

// describe adds a row for each wait.
func (g *grapher) describe() {
	for _, w := range g.s.waits {
		row := &answer.ThreadWait{Thread: w.thread.Describe(g.s.gaps), How: w.how}
		g.rows[w.thread], g.of[w.thread] = row, w
		g.place(row, w)
		if len(w.runners) > 0 && !w.byCode {
			d := w.runners[0].Describe(g.s.gaps)
			row.Owner = &d
		}
		switch {
		case w.lock != nil:
			row.Kind, row.Object, row.Type, row.Name = w.lock.Kind, w.lock.Address, w.lock.Type, g.s.names[w.lock.Address]
			if row.Note = w.lock.arrived.Text; w.lock.Kind == answer.LockCountdown {
				row.Note = w.lock.Counts.Text
			}
		case w.unread != "":
			row.Kind = answer.LockMonitor
		case w.serves != "":
			row.Kind = answer.WaitFinalizer
		case w.callback == callbackOfToken:
			row.Kind = answer.WaitCallback
		case w.outside != nil:
			row.Kind, row.Object = w.outside.Kind, w.outside.Object
			if o, err := g.s.r.b.Objects().TrustedObject(row.Object); err == nil {
				row.Type = g.s.gaps.Text(o.Type.ManagedName())
			}
		case w.join:
			row.Kind = answer.WaitThread
			if w.object.Addr != 0 {
				row.Object, row.Type = w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName())
			}
		case w.async:
			row.Kind, row.Object, row.Chain, row.Until = answer.WaitTask, w.tasks[0], w.chain, w.until.Text
		case w.object.Addr != 0:
			row.Kind, row.Object, row.Type, row.Name = answer.WaitHandle, w.object.Addr, g.s.gaps.Text(w.object.Type.ManagedName()), g.s.names[w.object.Addr]
			if ok, err := objects.IsShape[*mutex](g.s.r.b, w.object.Type); ok && err == nil && w.more == 0 && row.Owner == nil {
				row.Note = "its owner " + g.s.ownedElsewhere()
			}
		case w.class != 0:
			row.Kind, row.Object = answer.LockConstructor, w.class
			row.Type = g.s.gaps.Text(g.s.r.rt.TypeName(w.class, dac.NameManaged))
		case len(w.tasks) == 0:
			row.Kind, row.Object = answer.WaitTask, w.event
		default:
			row.Kind, row.Object, row.Type, row.Chain, row.Until = answer.WaitTask, w.tasks[0], g.s.typeOf(w.tasks[0]), w.chain, w.until.Text
		}
		if w.remote != "" {
			row.Kind = w.remote
		}
		row.Statement, row.Soon = g.does(w, true), w.isNext()
	}
}

// does describes what a thread waits for. typed adds the type of a task.
func (g *grapher) does(w *wait, typed bool) answer.Statement {
	thing := g.awaited(w, typed)
	switch w.remote {
	case answer.WaitConnection:
		return words.WaitsForConnection.Of(thing)
	case answer.WaitServer:
		return words.WaitsForServer.Of(thing)
	}
	return words.WaitsFor.Of(thing)
}

// awaited names what a thread waits for.
func (g *grapher) awaited(w *wait, typed bool) answer.Statement {
	class := words.Type(g.rows[w.thread].Type.String())
	switch n := len(w.tasks); {
	case w.lock != nil && w.pulse:
		return words.PulseOf.Of(words.Type(w.lock.Type.String()))
	case w.lock != nil:
		return kindOf(w.lock)
	case w.unread != "":
		return words.Text(w.unread)
	case w.serves != "":
		return words.TheFinalizer.Of()
	case w.callback == callbackOfToken:
		return words.EndOfCallback.Of(words.Text(w.callback))
	case w.outside != nil:
		return w.outside.Says
	case w.join:
		return g.ended(w)
	case w.async:
		return words.AsyncToComplete.Of()
	case w.object.Addr != 0 && w.more > 0:
		return words.WaitHandles.Of(words.N(w.more+1), article(class))
	case w.object.Addr != 0:
		return article(class)
	case w.class != 0:
		return words.StaticConstructor.Of(class)
	case n == 0 && w.completed:
		return words.TaskWakes.Of()
	case n == 0:
		return words.TaskNotFound.Of()
	case n > 1:
		return words.TasksToComplete.Of(words.N(n), class)
	case typed:
		return words.TaskToComplete.Of(words.ColonType.Of(words.Type(taskName(class.Text))))
	}
	return words.TaskToComplete.Of(answer.Statement{})
}

// ended names the thread that a thread joins.
func (g *grapher) ended(w *wait) answer.Statement {
	switch {
	case w.object.Addr == 0:
		return words.EndUnknown.Of()
	case len(w.runners) == 0:
		return words.EndEnded.Of()
	case w.runners[0] == w.thread:
		return words.EndOwn.Of()
	}
	return words.EndOf.Of(g.name(w.runners[0]))
}

// kindOf names a lock by its kind and its type.
func kindOf(l *lock) answer.Statement {
	class := words.Type(l.Type.String())
	switch l.Kind {
	case answer.LockLazy:
		return words.LazyValue.Of(class)
	case answer.LockSpin:
		return words.SpinLockOf.Of(class)
	case answer.LockMonitor, answer.LockThin:
		return words.MonitorOf.Of(class)
	}
	if strings.HasSuffix(l.Type.S, "."+string(l.Kind)) {
		return article(words.Type(string(l.Kind)))
	}
	return words.LockOfType.Of(article(words.Type(string(l.Kind))), class)
}

// article returns a name behind an indefinite article.
func article(name answer.Statement) answer.Statement {
	if strings.ContainsRune("aeiouAEIOU", rune(name.Text[0])) {
		return words.An.Of(name)
	}
	return words.A.Of(name)
}

// waitsForCallers reports whether a class belongs to a library with methods that wait on behalf of their callers.
func waitsForCallers(class string) bool {
	for _, library := range []string{"System.", "Interop", "Microsoft.Win32.", fsharpControl} {
		if strings.HasPrefix(class, library) {
			return true
		}
	}
	return false
}

// place names the waiting method of the program, with file and line.
func (g *grapher) place(row *answer.ThreadWait, w *wait) {
	called := "" // method of the class library that the program called
	next, unread := false, false
	remote := w.waitsForSignal() // until the program's own method is met
	var own, compiled stackwalk.Frame
	for f := range g.s.r.walker.Walk(g.s.ctx, w.thread.Managed, w.thread.OS.Registers, stackwalk.WalkOptions{}) {
		g.s.gaps.Note(f.Missing())
		if f.Kind != stackwalk.FrameManaged {
			continue
		}
		md, err := f.Method()
		if err != nil || md == nil {
			continue
		}
		class, err := f.Runtime.TypeName(md.MethodTable, dac.NameNative)
		if remote && err == nil {
			if remote = answer.LibraryMethod(class); !remote {
				own = f
			} else if kind := tasks.Remote(class + "."); kind != "" && w.remote != answer.WaitConnection {
				w.remote = kind
			}
		}
		if !row.Method.IsZero() {
			if !next {
				next, w.entry = true, false // it has a caller
			}
			if w.library = w.library && err == nil && answer.LibraryMethod(class); !w.library && !remote {
				break
			}
			continue
		}
		if err != nil || waitsForCallers(class) || md.Kind == dac.MethodDynamic {
			called, _ = dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
			if compiled.Runtime == nil && isCompiled(&f, md) {
				compiled = f
			}
			continue
		}
		if compiled.Runtime != nil && answer.LibraryMethod(class) {
			f = compiled // an endpoint of the program, with the program's methods inlined
		}
		g.program(row, &f)
		called, unread = g.s.inlined(&f, md, called)
		name, _ := md.Name()
		w.entry, w.library = slices.Contains(entryPoints, name), answer.LibraryMethod(class)
	}
	if row.Method.IsZero() {
		called = ""
	}
	if w.remote != "" && own.Runtime != nil {
		g.program(row, &own)
	}
	w.called = called
	w.ends = endsByItself(w, called)
	w.vague = unread && w.timeout < 0 && (w.ends.Says == words.EndsSometime.Kind() || w.ends.Says == words.EndsCanceled.Kind()) && !strings.HasSuffix(called, "(System.Threading.CancellationToken)")
	row.Ends = w.ends.Text
}

// isCompiled reports whether a frame's method was compiled at run time, as of an expression tree, and is no stub.
func isCompiled(f *stackwalk.Frame, md *dac.MethodDesc) bool {
	if md.Kind != dac.MethodDynamic {
		return false
	}
	name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified)
	return err == nil && !answer.LibraryMethod(name)
}

// program sets the method of a row to the frame's method, with file and line.
func (g *grapher) program(row *answer.ThreadWait, f *stackwalk.Frame) {
	md, err := f.Method()
	if err != nil || md == nil {
		return
	}
	row.Method = g.s.gaps.Text(dac.CodeOf(f.Runtime).MethodName(md, dac.MethodQualified))
	row.File, row.Line = "", 0
	if line, err := f.SourceLine(); err == nil {
		row.File, row.Line = line.File, line.Line
	}
}

// waitsForSignal reports whether a wait is for an event, a semaphore or a handle, as in a client library that waits for
// its server.
func (w *wait) waitsForSignal() bool {
	if w.lock != nil {
		return w.lock.Kind == answer.LockEvent || w.lock.Kind == answer.LockSemaphore
	}
	return w.object.Addr != 0 && !w.join
}

// entryPoints are the names that compilers give to the method that the host calls.
var entryPoints = []string{"Main", "<Main>", "<Main>$"}

// endsByItself describes how a wait can end by itself, or returns the zero Statement. A recorded time limits it, or the
// called method of the class library takes a time, a cancellation token or other tasks.
func endsByItself(w *wait, called string) answer.Statement {
	if w.timeout >= 0 && w.how == answer.HowRecorded {
		return words.EndsAtMost.Of(words.Duration(time.Duration(w.timeout) * time.Millisecond))
	}
	name, arguments, _ := strings.Cut(called, "(")
	switch {
	case strings.Contains(name, ".WaitAny"):
		return words.EndsWithAny.Of()
	case strings.Contains(arguments, "System.Threading.CancellationToken"):
		return words.EndsCanceled.Of()
	case w.serves == "" && w.callback != callbackOfToken && (w.how != answer.HowRecorded || w.steps) && (takesTime(called) || strings.Contains(arguments, "TimeoutTracker")):
		return words.EndsSometime.Of()
	}
	return answer.Statement{}
}

func frameName(f *answer.AsyncFrame) string {
	if !f.Method.IsZero() && f.Method.Err == nil && f.Method.S != "" {
		name := f.Method.S
		if f.File != "" {
			name += fmt.Sprintf(" (%s:%d)", f.File, f.Line)
		}
		return name
	}
	if !f.Name.IsZero() {
		return f.Name.String()
	}
	return string(f.Kind)
}
