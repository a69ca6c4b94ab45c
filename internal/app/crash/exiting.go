package crash

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// exiting reports in the answer that the process is exiting: a thread is in Environment.Exit, or runs an exit handler
// of the program. finalizer reports whether that thread is the finalizer thread.
func (d *describer) exiting(walker *stackwalk.Walker, list []stackwalk.Thread, w *answer.Waiting) (finalizer bool) {
	for i := range w.Threads {
		if row := &w.Threads[i]; row.Kind == answer.ActivityExit {
			where := answer.Statement{}
			if row.Caller.S != "" {
				where = words.InMethod.Of(words.Method(row.Caller.S))
			}
			d.finding(answer.FindingEnding, words.CalledExit.Of(words.ThreadAndID(row.Thread), where), answer.StrengthRecorded, words.ItsFrames.Of())
		}
	}
	handlers := d.exitHandlers()
	for i := range list {
		t := &list[i]
		// The main thread or, in later runtimes, the finalizer thread runs exit handlers.
		if t.Managed == nil || t.OS == nil || t.Index != 0 && !t.Managed.Finalizer {
			continue
		}
		if evidence := d.exitFrame(walker, t, handlers); !evidence.IsZero() {
			finalizer = finalizer || t.Managed.Finalizer
			d.finding(answer.FindingEnding, words.RunsExit.Of(threadSays(t)), answer.StrengthRecorded, evidence)
		}
	}
	return finalizer
}

// exitFrame describes the frame of a thread that belongs to the process's exit, or returns the zero Statement.
func (d *describer) exitFrame(walker *stackwalk.Walker, t *stackwalk.Thread, handlers []target.Addr) answer.Statement {
	for f := range walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if err != nil || md == nil || f.Kind != stackwalk.FrameManaged {
			continue
		}
		name, err := dac.CodeOf(f.Runtime).MethodName(md, dac.MethodFull)
		switch {
		case err != nil: // the walk continues
		case name == "System.AppContext.OnProcessExit()":
			return words.ItsFrame.Of(words.Method(name))
		case f.Runtime == d.rt && slices.Contains(handlers, md.Addr):
			return words.ItsExitFrame.Of(words.Method(name))
		}
	}
	return answer.Statement{}
}

// exitHandlers returns the methods that are called when the process exits. It ignores unreadable parts: the absence of
// a method supports no conclusion.
func (d *describer) exitHandlers() (methods []target.Addr) {
	list, err := exitList(objects.New(d.rt))
	if err != nil {
		return nil
	}
	calls, _ := list.Delegate()
	for _, c := range calls {
		if m, err := c.Method(); err == nil {
			methods = append(methods, m.Addr)
		}
	}
	return methods
}

// exitList returns the delegate of the ProcessExit event. Since .NET 9 it is a field of the AppDomain; before, it is
// static.
func exitList(r *objects.Reader) (objects.Object, error) {
	if domain, err := coreStatic(r, "System.AppDomain", "s_domain").Object(); err == nil {
		if list := domain.Field("ProcessExit"); list.Err() == nil {
			return list.Object()
		}
	}
	return coreStatic(r, "System.AppContext", "ProcessExit").Object()
}

// coreStatic returns the value of a static field of the runtime's class library.
func coreStatic(r *objects.Reader, class, field string) (v objects.Value) {
	for t, err := range r.TypeByName(class, "System.Private.CoreLib") {
		if err != nil {
			continue
		}
		if f, err := t.StaticField(field); err == nil {
			s := f.StaticValue()
			return s.Stored // whether or not the class has been initialised
		}
	}
	return objects.Value{}
}
