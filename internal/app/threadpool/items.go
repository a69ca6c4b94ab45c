package threadpool

import (
	"cmp"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// plainTypes are the types of items that SOS describes.
var plainTypes = map[string]bool{
	"System.Threading.Tasks.Task":                              true,
	"System.Threading.QueueUserWorkItemCallback":               true,
	"System.Threading.QueueUserWorkItemCallbackDefaultContext": true,
}

// item describes a queued item.
func (r *Reader) item(g *answer.Gaps, a target.Addr) answer.WorkItem {
	out := answer.WorkItem{Address: a, Kind: answer.ItemOther}
	o, err := r.b.Objects().TrustedObject(a)
	if err != nil {
		g.Note(fmt.Errorf("queued item %016x: %w", uint64(a), err))
		out.Type = answer.Text{Err: err}
		return out
	}
	out.MethodTable = o.Type.MT.Addr
	if out.Size, err = o.Size(); err != nil {
		g.Note(err)
	}
	out.Type = typeText(g, o)
	out.Plain = plainTypes[out.Type.S]
	if err := r.describeItem(g, &out, o); err != nil {
		g.Note(fmt.Errorf("queued item %016x: %w", uint64(a), err))
		out.Method = answer.Text{Err: err}
	}
	return out
}

// describeItem determines what an item will run.
func (r *Reader) describeItem(g *answer.Gaps, out *answer.WorkItem, o objects.Object) error {
	if s, at, is, err := shapes.TryBind[*callbackItem](r.b, o); is || err != nil {
		if err != nil {
			return err
		}
		out.Kind = answer.ItemCallback
		r.state(g, out, s.State.Value(at))
		return r.mustCall(g, &out.Method, &s.Callback, at)
	}
	if s, at, is, err := shapes.TryBind[*box](r.b, o); is || err != nil {
		if err != nil {
			return err
		}
		out.Kind = answer.ItemAsync
		out.Method = r.asyncMethod(g, s, at)
		return r.taskStatus(g, out, o)
	}
	if s, at, is, err := shapes.TryBind[*task](r.b, o); is || err != nil {
		if err != nil {
			return err
		}
		out.Kind = answer.ItemTask
		r.state(g, out, s.State.Value(at))
		if err := r.setMethod(g, &out.Method, &s.Action, at); err != nil {
			return err
		}
		return r.taskStatus(g, out, o)
	}
	if s, at, is, err := shapes.TryBind[*queuedTimer](r.b, o); is || err != nil {
		if err != nil {
			return err
		}
		out.Kind = answer.ItemTimer
		r.state(g, out, s.State.Value(at))
		return r.mustCall(g, &out.Method, &s.Callback, at)
	}
	out.State = simpleFields(g, o)
	return nil
}

// setMethod sets the name of the method that the delegate in a field calls. A null delegate has no name.
func (r *Reader) setMethod(g *answer.Gaps, to *answer.Text, f *objects.RefField, at objects.Instance) error {
	d, err := f.Object(at)
	if err == nil && d.Addr != 0 {
		*to, _ = r.call(g, d)
	}
	return err
}

// mustCall is setMethod for a delegate that is never null.
func (r *Reader) mustCall(g *answer.Gaps, to *answer.Text, f *objects.RefField, at objects.Instance) error {
	if d, err := f.Addr(at); err == nil && d == 0 {
		return target.CorruptHeapf("it has no callback")
	}
	return r.setMethod(g, to, f, at)
}

// state describes the argument of a method.
func (r *Reader) state(g *answer.Gaps, out *answer.WorkItem, v objects.Value) {
	out.StateObject, out.StateType, out.State = r.value(g, v)
}

// value describes a value of any type: an object by address and type, and its content on one line.
func (r *Reader) value(g *answer.Gaps, v objects.Value) (target.Addr, answer.Text, answer.Line) {
	if err := v.Err(); err != nil {
		g.Note(err)
		return 0, answer.Text{Err: err}, nil
	}
	if v.Kind() != objects.KindReference {
		line := v.Line(lineChars)
		if line.Blank() {
			line = append(answer.Words(v.Plain(lineChars)), line...)
		}
		g.Note(line.Err())
		return 0, answer.Text{}, line
	}
	if v.IsNull() {
		return 0, answer.Text{}, nil
	}
	o, err := v.Object()
	if err != nil {
		g.Note(err)
		a, _ := v.Addr()
		return a, answer.Text{Err: err}, nil
	}
	if !o.IsString() && !o.IsBoxed() {
		return o.Addr, typeText(g, o), nil
	}
	line := v.Line(lineChars)
	g.Note(line.Err())
	return o.Addr, typeText(g, o), line
}

// asyncMethod returns the async method of a box from the name of the state machine's type.
func (r *Reader) asyncMethod(g *answer.Gaps, s *box, at objects.Instance) answer.Text {
	t, err := s.Machine.Value(at).Type()
	if v := s.Machine.Value(at); err == nil && v.Kind() == objects.KindReference {
		var o objects.Object
		o, err = v.Object()
		t = o.Type
	}
	if err == nil && t == nil {
		err = fmt.Errorf("state machine type: %w", target.ErrNotInDump)
	}
	if err != nil {
		return g.Text("", err)
	}
	name, err := t.ManagedName()
	return g.Text(compilernames.Method(name), err)
}

// taskStatus adds the status of a task and what continues it. The box of a ValueTask is not a task.
func (r *Reader) taskStatus(g *answer.Gaps, out *answer.WorkItem, o objects.Object) error {
	s, at, is, err := shapes.TryBind[*task](r.b, o)
	if !is || err != nil {
		return err
	}
	flags, err := s.Flags.Uint(at)
	if err != nil {
		return err
	}
	out.Status = tasks.Flags(flags).Status()
	next, err := s.Continuation.Object(at)
	if err != nil || next.Addr == 0 {
		return err
	}
	out.Continuation = r.continuation(g, next)
	return nil
}

// continuation names what runs when a task completes.
func (r *Reader) continuation(g *answer.Gaps, o objects.Object) answer.Text {
	in := shapes.Reading{Gaps: g, Binder: r.b}
	if s, at := shapes.BindAs[*box](in, o); s != nil {
		return r.asyncMethod(g, s, at)
	}
	if s, at := shapes.BindAs[*continueWith](in, o); s != nil {
		if s, at := shapes.BindAt[*task](in, &s.Task, at); s != nil {
			if d := in.ObjectAt(&s.Action, at); d.Addr != 0 {
				name, _ := r.call(g, d)
				return name
			}
		}
	}
	if calls, err := o.Delegate(); err == nil && len(calls) > 0 {
		if t, err := r.b.Objects().TrustedObject(calls[0].Target); err == nil {
			if s, at := shapes.BindAs[*box](in, t); s != nil {
				return r.asyncMethod(g, s, at)
			}
		}
		name, _ := r.call(g, o)
		return name
	}
	return typeText(g, o)
}

// Limits of simpleFields.
const (
	simpleFieldsShown = 4
	simpleFieldChars  = 60
)

// simpleFields shows the strings and numbers of an object without a text of its own, to distinguish items.
func simpleFields(g *answer.Gaps, o objects.Object) answer.Line {
	var out answer.Line
	n := 0
	for f, v := range o.Fields() {
		if err := cmp.Or(v.Err(), f.Err()); err != nil {
			g.Note(err)
			continue
		}
		if v.IsNull() {
			continue
		}
		var line answer.Line
		switch v.Kind() {
		case objects.KindReference:
			text, err := v.Object()
			if g.Note(err); err != nil || !text.IsString() {
				continue
			}
			line = v.Line(simpleFieldChars)
			g.Note(line.Err())
		case objects.KindBool, objects.KindChar, objects.KindInt, objects.KindUint, objects.KindFloat:
			line = answer.Words(v.Plain(simpleFieldChars))
		default:
			continue
		}
		if n++; n > simpleFieldsShown {
			return append(out, answer.LinePiece{Text: ", …"})
		}
		lead := objects.FieldLabel(f.Name) + " = "
		if n > 1 {
			lead = ", " + lead
		}
		out = append(append(out, answer.LinePiece{Text: lead}), line...)
	}
	return out
}
