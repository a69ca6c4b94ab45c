package crash

import (
	"fmt"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// exiting says that the process ends because it wants to: a thread is in Environment.Exit, or
// one runs what the program asked to be called then. It reports whether the finalizer thread does.
func (d *describer) exiting(walker *stackwalk.Walker, list []threads.Thread, w *answer.Waiting) (finalizer bool) {
	for i := range w.Threads {
		if row := &w.Threads[i]; row.Kind == threads.ActivityExit.String() {
			where := ""
			if row.Caller.S != "" {
				where = " in " + row.Caller.S
			}
			d.conclusion(fmt.Sprintf("the process is ending: thread %s called Environment.Exit%s", answerThread(&row.Thread), where), answer.StrengthRecorded, "its frames")
		}
	}
	handlers := d.exitHandlers()
	for i := range list {
		t := &list[i]
		// The main thread runs them, or, of later runtimes, the finalizer thread.
		if t.Managed == nil || t.OS == nil || t.Index != 0 && !t.Managed.Finalizer {
			continue
		}
		if evidence := d.exitFrame(walker, t, handlers); evidence != "" {
			finalizer = finalizer || t.Managed.Finalizer
			d.conclusion(fmt.Sprintf("the process is ending: thread %s runs what is to be done then (AppContext.ProcessExit)", threadWords(t)), answer.StrengthRecorded, evidence)
		}
	}
	return finalizer
}

// exitFrame says which frame of a thread belongs to the end of the process; it is empty for none.
func (d *describer) exitFrame(walker *stackwalk.Walker, t *threads.Thread, handlers []target.Addr) string {
	for f := range walker.Walk(d.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
		md, err := f.Method()
		if err != nil || md == nil || f.Kind != stackwalk.FrameManaged {
			continue
		}
		name, err := code.Of(f.Runtime).MethodName(md, code.MethodFull)
		switch {
		case err != nil: // the walk goes on
		case name == "System.AppContext.OnProcessExit()":
			return "its frame " + name
		case f.Runtime == d.rt && slices.Contains(handlers, md.Addr):
			return fmt.Sprintf("its frame %s, which is in the list of AppContext.ProcessExit", name)
		}
	}
	return ""
}

// exitHandlers are the methods that are called when the process ends. What can't be read of them is
// none of the page's business: nothing is concluded from methods that are not among them.
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

// exitList is the delegate of the event: since 9 a field of the AppDomain, before a static one.
func exitList(r *objects.Reader) (objects.Object, error) {
	if domain, err := coreStatic(r, "System.AppDomain", "s_domain").Object(); err == nil {
		if list := domain.Field("ProcessExit"); list.Err() == nil {
			return list.Object()
		}
	}
	return coreStatic(r, "System.AppContext", "ProcessExit").Object()
}

// coreStatic is what a static field of the runtime's class library holds.
func coreStatic(r *objects.Reader, class, field string) (v objects.Value) {
	for t, err := range r.TypeByName(class, "System.Private.CoreLib") {
		if err != nil {
			continue
		}
		if f, err := t.StaticField(field); err == nil {
			s := f.StaticValue()
			return s.Stored // whether the class has been initialised or not
		}
	}
	return objects.Value{}
}
