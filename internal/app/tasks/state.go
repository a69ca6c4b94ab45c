package tasks

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A NotTaskError reports that an object is not a task. It wraps target.ErrUnsupported.
type NotTaskError struct {
	Addr target.Addr
	Type answer.Text // the object's type
}

func (e *NotTaskError) Error() string {
	return fmt.Sprintf("%v is not a task but an object of type %v", e.Addr, e.Type)
}

// Unwrap returns target.ErrUnsupported.
func (e *NotTaskError) Unwrap() error { return target.ErrUnsupported }

// DescribeFlags describes the flags of a task.
func DescribeFlags(f Flags) *answer.TaskState {
	return &answer.TaskState{Flags: answer.Hex(f), Status: f.Status(), Names: f.Names(), ID: answer.Of[uint64](0, errNoTask)}
}

// errNoTask replaces the id if only flags are described.
var errNoTask = target.Unsupportedf("flags without a task")

// errPooled replaces the id of a pooled box.
var errPooled = target.Unsupportedf("the box of a pooled async method is not a task")

// DescribeState describes the state of the task at a, or of the task that runs the state machine at a. It also
// describes the pooled box of an async method behind a ValueTask. It returns a *NotTaskError for an object of another
// type, and an *objects.InvalidError for an address without an object.
func (r *Reader) DescribeState(a target.Addr) (*answer.TaskState, error) {
	o, err := r.r.Proven(a)
	if err != nil {
		return nil, err
	}
	name, nameErr := o.Type.ManagedName()
	k := r.kindAt(o.Type.MT.Addr)
	switch {
	case k.err != nil:
		return nil, k.err
	case k.pooled != nil:
		out := &answer.TaskState{Task: a, Type: answer.Text{S: name, Err: nameErr}, Status: answer.StatusPooled, ID: answer.Of[uint64](0, errPooled)}
		r.describeWaits(out, waiter{o.Addr, k})
		return out, nil
	case k.task == nil:
		if box, bk := r.boxOf(o); bk != nil {
			return r.DescribeState(box)
		}
		return nil, &NotTaskError{Addr: a, Type: answer.Text{S: name, Err: nameErr}}
	}
	flags, err := k.task.Flags.Uint(objects.InstanceOf(o))
	if err != nil {
		return nil, err
	}
	out := DescribeFlags(Flags(flags))
	out.Task, out.Type = a, answer.Text{S: name, Err: nameErr}
	r.describeTask(out, k, o)
	r.describeWaits(out, waiter{o.Addr, k})
	return out, nil
}

// boxOf returns the task that runs the state machine o, and its kind. It returns nil if o is another object or has no
// task yet.
func (r *Reader) boxOf(o objects.Object) (target.Addr, *kind) {
	m, err := objects.Bind[*boxedMachine](r.b, o.Type)
	if err != nil {
		return 0, nil
	}
	box, err := m.Box.Addr(objects.InstanceOf(o))
	if err != nil || box == 0 {
		return 0, nil
	}
	k, err := r.kindOf(box)
	if err != nil || !k.item() {
		return 0, nil
	}
	return box, k
}

// describeWaits adds what a task waits for and what waits for it.
func (r *Reader) describeWaits(out *answer.TaskState, w waiter) {
	out.Name = r.calledAt(&out.Gaps, w)
	sentinel, err := r.completionSentinel()
	then := func(after target.Addr, element bool) {
		if after == 0 || after == sentinel {
			return
		}
		out.Note(r.expand(after, func(a target.Addr) {
			if a != sentinel && len(out.Then) < limits.AsyncWaits {
				l := r.link(&out.Gaps, a)
				l.Element = element
				out.Then = append(out.Then, l)
			}
		}))
	}
	done := Flags(out.Flags).Completed()
	if p := w.kind.pooled; p != nil {
		idle, err := r.idleBox(w)
		if err == nil && idle {
			out.Why = words.InItsPool.Of()
			out.WaitsFor.S = out.Why.Text
			return
		}
		out.Note(err)
		done, err = r.sourceDone(w.kind.source, p.Source.At(objects.InstanceAt(w.addr)))
		out.Note(err)
	}
	if k := w.kind; k.machine() && !done {
		x, m, err := r.machineOf(k, w.addr)
		var state int32
		var has bool
		if err == nil {
			state, has, err = m.state(x)
		}
		if err == nil && has && state >= 0 {
			out.At = m.place(r, state, true)
		}
		out.Note(err)
		if m != nil {
			next, err := m.iterates(r, x)
			out.Note(err)
			then(next, true)
		}
	}
	if w.kind.runtimeAsync {
		out.Suspended, _ = r.suspended(&out.Gaps, w.kind, w.addr, false, nil)
	}
	if !done {
		next, says, _, err := r.waitsFor(w)
		switch {
		case err != nil:
			out.Note(err)
			out.WaitsFor.Err = err
		case next != 0:
			l := r.link(&out.Gaps, next)
			out.WaitsOn = &l
		default:
			says = r.withPeer(&out.Gaps, w.addr, says)
			out.WaitsFor.S, out.Why = says.Text, says
		}
	}
	if err != nil {
		out.Note(err)
		return
	}
	var after target.Addr
	if p := w.kind.pooled; p != nil {
		after, err = w.kind.source.waiter(p.Source.At(objects.InstanceAt(w.addr)))
	} else {
		after, err = w.kind.task.Continuation.Addr(objects.InstanceAt(w.addr))
	}
	out.Note(err)
	then(after, false)
}

// idleBox reports whether a pooled box is in its pool. A state machine that is a class then is no longer in the box.
func (r *Reader) idleBox(w waiter) (bool, error) {
	if w.kind.pooled.Machine.Value(objects.InstanceAt(w.addr)).IsNull() {
		return true, nil
	}
	x, m, err := r.machineOf(w.kind, w.addr)
	if err != nil {
		return false, err
	}
	return m.idle(x)
}

// link describes an object that a task waits for or that waits for it.
func (r *Reader) link(g *answer.Gaps, a target.Addr) answer.TaskLink {
	out := answer.TaskLink{Object: a}
	k, err := r.kindOf(a)
	if err != nil {
		g.Note(err)
		out.Name.Err = err
		return out
	}
	out.Name = r.calledAt(g, waiter{a, k})
	if k.task != nil {
		flags, err := k.task.Flags.Uint(objects.InstanceAt(a))
		if g.Note(err); err == nil {
			out.Status = Flags(flags).Status()
		}
	} else if name, err := r.b.Definition(k.typ); err == nil {
		out.Meaning = meanings[name]
	}
	return out
}

// calledAt returns the name of an object; for a state machine, its method. It notes in g what could not be read.
func (r *Reader) calledAt(g *answer.Gaps, w waiter) answer.Text {
	if w.kind.machine() {
		_, m, err := r.machineOf(w.kind, w.addr)
		if err == nil || errors.Is(err, errCleared) {
			var name string
			if name, err = m.methodName(); err == nil {
				return answer.Text{S: name}
			}
		}
		g.Note(err)
	}
	return r.nameOf(g, w.kind, w.addr).Name
}
