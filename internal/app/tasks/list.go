package tasks

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// ListOptions selects tasks. The zero value selects all.
type ListOptions struct {
	Faulted bool              `opt:"faulted" excludes:"status" help:"only tasks that failed and whose exceptions nobody has looked at, each with these"`
	Status  answer.TaskStatus `opt:"status" value:"STATUS" choices:"Created|WaitingForActivation|WaitingToRun|Running|WaitingForChildrenToComplete|RanToCompletion|Canceled|Faulted" help:"only tasks in this state"`
	Type    string            `opt:"type" kind:"type" help:"only objects of types whose name contains this"`
	Limit   int               `opt:"limit" range:"0:" default:"100" help:"list at most N tasks that failed, 0 for all"`
}

// status returns the status of an item as one word.
func (i *item) status() answer.TaskStatus {
	if i.kind.task == nil {
		return answer.StatusPooled
	}
	return i.flags.Status()
}

// List counts the selected tasks by status and name, and lists the failed ones.
func (s *Set) List(ctx context.Context, o ListOptions) (*answer.Tasks, error) {
	out := &answer.Tasks{Counts: []answer.TaskCount{}}
	if o.Faulted && s.faultless {
		out.Faults = []answer.FaultedTask{}
		return out, nil
	}
	if err := s.Note(&out.Gaps); err != nil {
		return nil, err
	}
	if o.Faulted {
		o.Status = answer.StatusFaulted
		out.Faults = []answer.FaultedTask{}
	}
	type key struct {
		status answer.TaskStatus
		name   string
	}
	known := map[key]int{}
	matching := StackOptions{Type: o.Type}
	for i := range s.items {
		it := &s.items[i]
		if it.kind.fsharp() || o.Status != "" && it.status() != o.Status || !matching.matches(it) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.Count++
		name := s.called(&out.Gaps, it)
		k := key{it.status(), name.String()}
		n, ok := known[k]
		if !ok {
			n = len(out.Counts)
			known[k] = n
			out.Counts = append(out.Counts, answer.TaskCount{Status: it.status(), Name: name, MethodTable: it.kind.typ.MT.Addr, First: it.addr})
		}
		out.Counts[n].Count++
		if o.Faulted {
			s.faulted(out, it, o.Limit)
		}
	}
	slices.SortStableFunc(out.Counts, func(a, b answer.TaskCount) int { return cmp.Compare(b.Count, a.Count) })
	return out, s.awaited(ctx, out)
}

// awaited marks the failed tasks that suspended methods await: these have not gone on yet.
func (s *Set) awaited(ctx context.Context, out *answer.Tasks) error {
	at := map[target.Addr]int{}
	for i := range out.Faults {
		at[out.Faults[i].Task] = i
	}
	for i := range s.items {
		if it := &s.items[i]; len(at) > 0 && it.kind.machine() && !it.completed() {
			next, _, _, err := s.r.waitsFor(waiter{it.addr, it.kind})
			if n, ok := at[next]; ok && err == nil {
				out.Faults[n].Awaited = true
			}
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// Each iterates over the tasks and boxes of async methods by address, as frames of their stacks. A frame is valid until
// the next one. An error describes a part that could not be read; an error of ctx ends the iteration.
func (s *Set) Each(ctx context.Context) iter.Seq2[*answer.AsyncFrame, error] {
	return func(yield func(*answer.AsyncFrame, error) bool) {
		var g answer.Gaps
		failure := s.Note(&g)
		for _, err := range g.Noted() {
			if !yield(nil, err) {
				return
			}
		}
		if failure != nil {
			yield(nil, failure)
			return
		}
		b := &builder{selection: &selection{Set: s}, words: map[Flags]string{}}
		for i := range s.items {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if s.items[i].kind.fsharp() {
				continue
			}
			var gaps answer.Gaps
			f := answer.AsyncFrame{Object: s.items[i].addr}
			b.describe(&gaps, &f, int32(i))
			for _, err := range gaps.Noted() {
				if !yield(nil, err) {
					return
				}
			}
			if !yield(&f, nil) {
				return
			}
		}
	}
}

// called returns the name of an item: its async method, if it has one.
func (s *Set) called(g *answer.Gaps, it *item) answer.Text {
	return s.r.calledAt(g, waiter{it.addr, it.kind})
}

// faulted lists a failed task unless its exceptions have been observed. A task that only its flags call failed is noted in out.
func (s *Set) faulted(out *answer.Tasks, it *item, limit int) {
	h, x, err := s.r.faultHolder(it.kind, it.addr)
	seen := false
	if err == nil && h != nil {
		seen, err = h.Handled.Bool(x)
	}
	switch {
	case err == nil && h == nil || errors.Is(err, target.ErrCorrupt) || errors.Is(err, objects.ErrOtherType):
		// What a collector has moved away may still look like a task that failed. A failed one has its exceptions.
		err = target.CorruptHeapf("the task %016x has failed and has no exception", uint64(it.addr))
	case seen:
		out.Seen++
	case limit > 0 && len(out.Faults) == limit:
		out.More++
	default:
		list := []answer.TaskException{}
		if err == nil && h != nil {
			list, err = s.r.exceptions(&out.Gaps, h, x)
		}
		out.Faults = append(out.Faults, answer.FaultedTask{Task: it.addr, Name: s.called(&out.Gaps, it), Exceptions: list})
	}
	out.Note(err)
}

// Exceptions returns the exceptions of the failed task at a, observed or not, and an empty list for other tasks. It
// notes missing texts in g.
func (r *Reader) Exceptions(g *answer.Gaps, a target.Addr) ([]answer.TaskException, error) {
	k, err := r.kindOf(a)
	if err != nil {
		return nil, err
	}
	h, x, err := r.faultHolder(k, a)
	if err != nil || h == nil {
		return nil, err
	}
	return r.exceptions(g, h, x)
}

// faultHolder returns the object that holds the exceptions of a task, or nil.
func (r *Reader) faultHolder(k *kind, a target.Addr) (*faultHolder, objects.Instance, error) {
	detail, err := objects.Bind[*taskDetail](r.b, k.typ)
	if err != nil {
		return nil, 0, err
	}
	o, err := detail.Contingent.Object(objects.InstanceAt(a))
	if err != nil || o.Addr == 0 {
		return nil, 0, err
	}
	c, x, err := objects.BindObject[*contingent](r.b, o)
	if err != nil {
		return nil, 0, err
	}
	if o, err = c.Exceptions.Object(x); err != nil || o.Addr == 0 {
		return nil, 0, err
	}
	return objects.BindObject[*faultHolder](r.b, o)
}

// exceptions returns the exceptions in a holder. A task with unobserved exceptions reports them to
// TaskScheduler.UnobservedTaskException when it is finalized. Missing texts are noted in g.
func (r *Reader) exceptions(g *answer.Gaps, h *faultHolder, x objects.Instance) (list []answer.TaskException, err error) {
	list = []answer.TaskException{}
	faults, err := h.Faults.Object(x)
	if err != nil || faults.Addr == 0 {
		return list, err
	}
	l, err := objects.Bind[*objectList](r.b, faults.Type)
	if err != nil {
		return list, err
	}
	for a, lerr := range r.listed(l, faults.Addr) {
		if lerr == nil && a != 0 && len(list) < maxFaults {
			var e answer.TaskException
			if e, lerr = r.exception(g, a); lerr == nil {
				list = append(list, e)
			}
		}
		if lerr != nil && err == nil {
			err = lerr
		}
	}
	return list, err
}

// maxFaults bounds the exceptions read of one task.
const maxFaults = 1000

// messageChars bounds the characters read of an exception's message.
const messageChars = 1024

// exception describes the exception in an ExceptionDispatchInfo.
func (r *Reader) exception(g *answer.Gaps, info target.Addr) (answer.TaskException, error) {
	o, err := r.r.TrustedObject(info)
	if err != nil {
		return answer.TaskException{}, err
	}
	d, x, err := objects.BindObject[*dispatchInfo](r.b, o)
	if err != nil {
		return answer.TaskException{}, err
	}
	a, err := d.Exception.Addr(x)
	if err != nil || a == 0 {
		return answer.TaskException{}, err
	}
	return r.Exception(g, a)
}

// Exception describes the exception at a. It notes missing texts in g.
func (r *Reader) Exception(g *answer.Gaps, a target.Addr) (answer.TaskException, error) {
	o, err := r.r.TrustedObject(a)
	if err != nil {
		return answer.TaskException{}, err
	}
	name, err := o.Type.ManagedName()
	out := answer.TaskException{Object: o.Addr, Type: g.Text(name, err)}
	e, x, err := objects.BindObject[*exceptionShape](r.b, o)
	if err == nil {
		out.Message.S, _, err = e.Message.Start(x, messageChars)
	}
	out.Message = g.Text(out.Message.S, err)
	cause, err := r.causeOf(o)
	out.Cause = g.Text(cause, err)
	thrown, began, err := r.thrownIn(o.Addr)
	out.Thrown, out.Began = g.Text(thrown, err), answer.Text{S: began, Err: err}
	return out, nil
}

// causeOf returns the type and message of the innermost exception that caused o, or "".
func (r *Reader) causeOf(o objects.Object) (string, error) {
	own := o.Addr
	for range limits.WrappedExceptions {
		e, x, err := objects.BindObject[*exceptionShape](r.b, o)
		if err != nil {
			return "", err
		}
		inner := objects.Object{}
		if e.Inner.Has() {
			if inner, err = e.Inner.Object(x); err != nil {
				return "", err
			}
		}
		if inner.Addr != 0 {
			o = inner
			continue
		}
		if o.Addr == own {
			return "", nil
		}
		name, err := o.Type.ManagedName()
		if err != nil {
			return "", err
		}
		message, _, err := e.Message.Start(x, messageChars)
		if message != "" {
			name += ": " + message
		}
		return name, err
	}
	return "", target.Corruptf("exception %016x has no innermost cause", uint64(own))
}

// ThrownThrough reports whether an exception came through a method that has a property: the method is in its stack trace.
func (r *Reader) ThrownThrough(exception target.Addr, has func(*dac.MethodDesc) bool) bool {
	rt := r.r.Runtime()
	if rt.Check(dac.FeatureMethods) != nil {
		return false
	}
	e, err := rt.Exception(exception)
	if err != nil {
		return false
	}
	frames, _ := rt.StackTrace(&e) // those that were read
	for i := range frames {
		if md, err := r.code.TrustedMethodDesc(frames[i].Method); err == nil && has(md) {
			return true
		}
	}
	return false
}

// thrownIn returns the innermost and the outermost method of the program in the stack trace of an exception, or "". Methods of NativeAOT programs are not read.
func (r *Reader) thrownIn(exception target.Addr) (thrown, began string, err error) {
	rt := r.r.Runtime()
	if rt.Check(dac.FeatureMethods) != nil {
		return "", "", nil
	}
	e, err := rt.Exception(exception)
	if err != nil {
		return "", "", err
	}
	frames, err := rt.StackTrace(&e)
	for i := range frames {
		md, err := r.code.TrustedMethodDesc(frames[i].Method)
		name := ""
		if err == nil {
			name, err = r.code.MethodName(md, dac.MethodQualified)
		}
		if err != nil && thrown != "" {
			return thrown, "", nil // where the trace begins is unknown
		}
		if err != nil {
			return "", "", err
		}
		if !answer.LibraryMethod(name) {
			began = strings.TrimSuffix(compilernames.Pretty(name), " [state machine]")
			thrown = cmp.Or(thrown, began)
		}
	}
	return thrown, began, err
}
