package crash

import (
	"cmp"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/target"
)

// These replace searches of the heap if Options.NoHeap is set.
var (
	errLeftOut        = target.Unsupportedf("an exception thrown before Main ran was not looked for: the heap was left out, as asked")
	errFaultingObject = target.Unsupportedf("an overwritten object with the accessed address in place of its MethodTable was not looked for: the heap was left out, as asked")
)

// beforeMain looks for the exception that ended a process before Main ran. The runtime throws it while it prepares
// Main, for example for a missing method, type or assembly. No managed frame is on the stack then, and the runtime
// drops its record of the exception on the way to its native caller. Only the thread's last exception refers to it,
// until another one is caught there. The exception itself stays on the heap.
func (d *describer) beforeMain() {
	x, t := d.died.Exception, d.died.Thread
	if d.out.Alive || x == nil || x.Signal == nil || x.Signal.Number != target.SIGABRT || received(x, d.p.Target().Process().ID) ||
		d.died.Thrown != 0 || d.out.Frames > 0 || t == nil || t.Managed == nil || t.Managed.Finalizer {
		return
	}
	list, err := d.died.list, d.died.lost
	if err != nil || d.unreadThreads() {
		return
	}
	walker, err := d.walker()
	if err != nil {
		return // noted with the stack
	}
	first := d.initialThread(list)
	if first == nil || first.Managed != t.Managed || d.outermost(walker, t) != "" {
		return
	}
	root, err := d.rt.RootAssembly()
	if err != nil || root == 0 {
		return
	}
	if d.noHeap {
		d.out.Note(errLeftOut)
		return
	}
	found, method, err := d.preparing(root, t.Managed)
	if err != nil {
		d.out.Note(fmt.Errorf("an exception thrown before Main ran: %w", err))
		return
	}
	if found == 0 {
		return
	}
	d.died.Thrown = found
	d.died.Deduced = words.OnlyPreparing.Of(threadSays(t), method)
}

// ending describes the exception that ended rt's process if no thread record refers to it, only the evidence in
// Deduced. Otherwise it returns nil. It records unreadable parts in g.
func ending(rt *dac.Runtime, c *Crash, g *answer.Gaps) *answer.EndingException {
	if c == nil || c.Deduced.IsZero() || c.Thread == nil {
		return nil
	}
	x, err := dac.CodeOf(rt).DescribeException(c.Thrown, dac.ExceptionOptions{})
	if err != nil {
		g.Note(err)
		return nil
	}
	g.NoteAll(x.Noted())
	return &answer.EndingException{Thread: c.Thread.Describe(g), Exception: *x, Strength: answer.StrengthLikely, Evidence: []string{c.Deduced.Text}, Facts: []answer.Statement{c.Deduced}}
}

// preparing returns the only exception on the heap that was thrown on t while a method of the assembly root was
// prepared, and a description of the method. It returns 0 if there are several or none, or if the heap is too large for
// a program before Main. An unreadable exception may be another one and is an error.
func (d *describer) preparing(root target.Addr, t *dac.Thread) (found target.Addr, method answer.Statement, err error) {
	h, err := heap.Open(d.rt, d.p.Target())
	if err == nil {
		err = h.Unread()
	}
	if err != nil {
		return 0, method, err
	}
	size := uint64(0)
	for _, s := range h.Spans(nil) {
		size += s.Range.Size()
	}
	if size > limits.HeapBeforeMain {
		return 0, method, nil
	}
	var unread error
	only := heap.Filter{Type: func(mt *dac.MethodTable) bool {
		is, err := d.rt.IsException(mt)
		unread = cmp.Or(unread, err)
		return err == nil && is
	}}
	candidates, inner := map[target.Addr]answer.Statement{}, map[target.Addr]bool{}
	objects := h.List(d.ctx, heap.ListOptions{Filter: &only, OnlyObjects: true})
	for o, err := range objects.Objects.All() {
		if err != nil {
			return 0, method, err // the exception may be among the objects that the walk skipped
		}
		e, err := d.rt.Exception(o.Address)
		if err != nil {
			return 0, method, err
		}
		inner[e.Inner] = true
		name, ok, err := d.prepared(root, t, &e)
		if err != nil {
			return 0, method, err
		}
		if ok {
			candidates[e.Addr] = name
		}
	}
	for a, name := range candidates {
		if inner[a] {
			continue // native code caught it, as for a type's initializer
		}
		if found != 0 {
			return 0, method, nil
		}
		found, method = a, name
	}
	if unread != nil {
		return 0, method, unread
	}
	return found, method, nil
}

// prepared reports whether e was thrown on t while a method of the assembly root was prepared for a native caller. Such
// a method is the only entry of the stack trace, without an instruction. method names it if its name can be read.
func (d *describer) prepared(root target.Addr, t *dac.Thread, e *dac.Exception) (method answer.Statement, ok bool, err error) {
	trace, err := d.rt.StackTrace(e)
	if err != nil || !outOfPreparation(trace, t.Stack) {
		return method, false, err
	}
	r := dac.CodeOf(d.rt)
	md, err := r.MethodDesc(trace[0].Method)
	if err != nil {
		return method, false, target.CorruptAddress(err)
	}
	m, err := md.Module()
	if err != nil || m.Assembly != root {
		return method, false, err
	}
	if n, err := md.Name(); err == nil && n == ".cctor" {
		return method, false, nil
	}
	name, err := r.MethodName(md, dac.MethodFull)
	if err != nil {
		return method, true, nil
	}
	return words.ColonMethod.Of(words.Method(name)), true, nil
}

// outOfPreparation reports whether a stack trace has only one method, which had not begun, on the given stack.
func outOfPreparation(trace []dac.TraceFrame, stack target.Range) bool {
	return len(trace) == 1 && trace[0].IP == 0 && trace[0].Method != 0 && !trace[0].Foreign && stack.Contains(trace[0].SP)
}
