package flows

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// List adds to out the ExecutionContexts with values and their code: the running threads and, if set is not nil, its
// suspended async methods, in the order of threads and stacks. It records unreadable parts in the Reader's gaps, which
// must be out's. The error is ctx's, or explains why nothing was found.
func (r *Reader) List(ctx context.Context, p *process.Process, running []stackwalk.Thread, set *tasks.Set, out *answer.Flows) error {
	l := &list{Reader: r, out: out, at: map[target.Addr]int{}}
	for i := range running {
		t := &running[i]
		if t.Managed == nil || t.OS == nil {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		noted := len(l.noted())
		n := l.flow(r.OfThread(t))
		l.lose(noted)
		if n >= 0 {
			out.Flows[n].Threads = append(out.Flows[n].Threads, r.Worker(ctx, p, t))
		}
	}
	if set != nil {
		if err := l.methods(ctx, set); err != nil {
			return err
		}
	}
	if out != nil && len(out.Flows) == 0 {
		return l.lost
	}
	return nil
}

// A list is an answer under construction.
type list struct {
	*Reader
	out  *answer.Flows
	at   map[target.Addr]int // by context: its index in out, or -1 if it is empty
	lost error               // why a context is unknown, or nil
}

// noted lists the gaps recorded so far.
func (l *list) noted() []error {
	if l.Gaps == nil {
		return nil
	}
	return l.Noted()
}

// lose keeps the first gap after the first n.
func (l *list) lose(n int) {
	if all := l.noted(); len(all) > n {
		l.lost = cmp.Or(l.lost, all[n])
	}
}

// methods adds the suspended async methods.
func (l *list) methods(ctx context.Context, set *tasks.Set) error {
	err := set.Note(l.Gaps)
	l.Note(err)
	l.lost = cmp.Or(l.lost, err)
	seen := map[target.Addr]bool{} // a method awaited by several others is in several stacks
	for s, err := range set.Stacks(ctx, tasks.StackOptions{}) {
		if err != nil {
			return err
		}
		for i := range s.Frames {
			f := &s.Frames[i]
			if f.State == nil || *f.State < 0 || f.Again || seen[f.Object] {
				continue
			}
			seen[f.Object] = true
			noted := len(l.noted())
			l.method(f)
			l.lose(noted)
		}
	}
	return nil
}

func (l *list) method(f *answer.AsyncFrame) {
	box, err := l.Binder.Objects().TrustedObject(f.Object)
	if err != nil {
		l.Note(err)
		return
	}
	n := l.flow(l.OfMethod(box))
	if n < 0 {
		return
	}
	to := &l.out.Flows[n]
	if to.Methods++; to.Methods == 1 {
		to.First = f
	}
}

// flow returns the index of an ExecutionContext in the answer, or -1 if it has no values.
func (l *list) flow(o objects.Object) int {
	if o.Addr == 0 {
		return -1
	}
	if n, ok := l.at[o.Addr]; ok {
		return n
	}
	n := -1
	if values := l.Describe(o); len(values) > 0 {
		if len(l.out.Flows) == limits.Flows {
			l.out.More++
		} else {
			n = len(l.out.Flows)
			l.out.Flows = append(l.out.Flows, answer.Flow{Context: o.Addr, Values: values})
		}
	}
	l.at[o.Addr] = n
	return n
}

// Describe describes the AsyncLocal values of an ExecutionContext.
func (r *Reader) Describe(executionContext objects.Object) []answer.FlowValue {
	var out []answer.FlowValue
	for o := range r.Values(executionContext) {
		v := answer.FlowValue{Address: o.Addr, Type: r.TypeText(o)}
		switch {
		case r.IsActivity(o):
			for a := range r.Activities(o) {
				if a := r.Activity(a); a != nil {
					v.Activities = append(v.Activities, *a)
				}
			}
		case r.IsScope(o):
			v.Scopes = r.Scopes(o)
		case o.IsString() || o.IsBoxed():
			line := o.Line(scopeText)
			r.Note(line.Err())
			v.Text = line.String()
		}
		out = append(out, v)
	}
	return out
}

// errNoFlow reports an object without an ExecutionContext.
var errNoFlow = target.Unsupportedf("nothing flows with it: it is not a System.Threading.Thread, an ExecutionContext or a suspended async method")

// Of describes the values that flow with a System.Threading.Thread, the box of a suspended async method, or an
// ExecutionContext. The list has at most one element.
func (r *Reader) Of(o objects.Object) ([]answer.Flow, error) {
	context := o
	is, err := objects.IsShape[*executionContext](r.Binder, o.Type)
	if err == nil && !is {
		context, err = r.contextOf(o)
	}
	if err != nil {
		return nil, fmt.Errorf("object %016x: %w", uint64(o.Addr), err)
	}
	if values := r.Describe(context); len(values) > 0 {
		return []answer.Flow{{Context: context.Addr, Values: values}}, nil
	}
	return []answer.Flow{}, nil
}

// contextOf returns the ExecutionContext of a thread or an async method.
func (r *Reader) contextOf(o objects.Object) (objects.Object, error) {
	t, x, err := objects.BindObject[*thread](r.Binder, o)
	if err == nil {
		return t.Context.Object(x)
	}
	if !errors.Is(err, objects.ErrOtherType) {
		return objects.Object{}, err
	}
	b, x, err := objects.BindObject[*boxShape](r.Binder, o)
	if err == nil {
		return b.Context.Object(x)
	}
	if !errors.Is(err, objects.ErrOtherType) {
		return objects.Object{}, err
	}
	return objects.Object{}, errNoFlow
}
