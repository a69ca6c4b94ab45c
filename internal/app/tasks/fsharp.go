package tasks

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Asyncs of F# (async { ... }) have no state machines. A suspended one is a chain of closures. What it waits for holds
// a closure of FSharp.Core with an AsyncActivation, which refers to the closure that continues, and so on to the end.
// Closures of a let! or do! hold the program's function that continues with the result. See async.fs and mailbox.fs in
// src/FSharp.Core of dotnet/fsharp. Fields have the names of captured variables; they are read by type if FSharp.Core
// uses several names.
type (
	// An activation is a struct.
	activation struct {
		_        objects.Shape    `of:"Microsoft.FSharp.Control.AsyncActivation<>"`
		Contents objects.RefField `field:"contents"`
	}
	activationContents struct {
		_    objects.Shape    `of:"Microsoft.FSharp.Control.AsyncActivationContents<>"`
		Next objects.RefField `field:"cont@"`
	}
	// A mailbox's savedCont is set while the body of its MailboxProcessor waits for a message.
	mailbox struct {
		_     objects.Shape    `of:"Microsoft.FSharp.Control.Mailbox<>"`
		Saved objects.RefField `field:"savedCont"`
	}
	someClosure struct {
		_     objects.Shape    `of:"Microsoft.FSharp.Core.FSharpOption<>"`
		Value objects.RefField `field:"value|item"`
	}
	resultCell struct {
		_     objects.Shape    `of:"Microsoft.FSharp.Control.AsyncPrimitives+ResultCell<>"`
		Event objects.RefField `field:"resEvent"`
	}
	promiseSource struct {
		_    objects.Shape    `of:"System.Threading.Tasks.TaskCompletionSource<>"`
		Task objects.RefField `field:"_task"`
	}
	// A callbackTimer is the timer of an Async.Sleep, if its callback is a closure with an activation.
	callbackTimer struct {
		_        objects.Shape    `of:"System.Threading.TimerQueueTimer"`
		Callback objects.RefField `field:"_timerCallback"`
		Due      objects.IntField `field:"_dueTime"`
	}
)

// A computation is a type of closures that take part in F#'s asyncs.
type computation struct {
	typ    *objects.Type
	at     *objects.Field   // the activation; nil for closures at an end
	next   []*objects.Field // references to functions; one may be the program's
	source *objects.Field   // TaskCompletionSource of Async.StartAsTask
	result *objects.Field   // ResultCell of Async.RunSynchronously
}

// blockedWords describes the continuation of an async that a thread runs.
const blockedWords = "a thread blocked until then (Async.RunSynchronously)"

const fsharpCore = "Microsoft.FSharp."

// bindFSharp reports whether a type is an async closure, a mailbox or a timer, and binds its shape.
func (r *Reader) bindFSharp(k *kind) bool {
	switch {
	case isOf(r, k.typ, &k.mailbox):
		bindShape(r, k, &k.mailbox)
		return true
	case isOf(r, k.typ, &k.timer):
		k.items = false // an unreadable timer is not a missing task
		if k.timer, k.err = objects.Bind[*callbackTimer](r.b, k.typ); k.err != nil {
			k.timer = nil
		}
		if errors.Is(k.err, target.ErrUnsupported) {
			k.err = nil // another runtime: no Async.Sleep is found
		}
		return true
	}
	name, err := r.b.Definition(k.typ)
	if err != nil || !strings.ContainsRune(name, '@') {
		return false
	}
	fields, err := k.typ.Fields()
	if err != nil {
		return false
	}
	c := &computation{typ: k.typ}
	for _, f := range fields {
		if f.Static || f.Err() != nil {
			continue
		}
		declared, err := f.TypeName(dac.NameManaged)
		if err != nil {
			continue
		}
		switch declared, _, _ = strings.Cut(declared, "<"); declared {
		case fsharpCore + "Control.AsyncActivation":
			c.at = f
		case fsharpCore + "Core.FSharpFunc":
			c.next = append(c.next, f)
		case "System.Threading.Tasks.TaskCompletionSource":
			c.source = f
		case fsharpCore + "Control.AsyncPrimitives+ResultCell":
			c.result = f
		}
	}
	if c.at == nil && c.source == nil && c.result == nil || c.at == nil && !strings.HasPrefix(name, fsharpCore) {
		return false
	}
	k.computation = c
	return true
}

// userCode returns the program's closure that continues in a computation, and its kind. It returns 0 if only
// FSharp.Core continues.
func (r *Reader) userCode(c *computation, x objects.Instance) (target.Addr, *kind, error) {
	for _, f := range c.next {
		a, err := f.At(target.Addr(x)).Addr()
		if err != nil {
			return 0, nil, err
		}
		if a == 0 {
			continue
		}
		k, err := r.kindOf(a)
		if k == nil || k.typ == nil {
			return 0, nil, err
		}
		if name, err := r.b.Definition(k.typ); err != nil {
			return 0, nil, err
		} else if !strings.HasPrefix(name, fsharpCore) && !strings.HasPrefix(name, "<StartupCode$FSharp-Core>") {
			return a, k, nil
		}
	}
	return 0, nil, nil
}

// computes follows closures from a to the first one that continues code of the program, or to the end: the task of an
// Async.StartAsTask, or the closure that wakes a thread. It returns 0 if nothing waits for the end.
func (r *Reader) computes(a target.Addr) (target.Addr, error) {
	for range limits.AsyncWaits {
		k, err := r.kindOf(a)
		if err != nil || k.computation == nil {
			return 0, err
		}
		x := objects.InstanceAt(a)
		c := k.computation
		if c.at == nil {
			return c.end(r, a, x)
		}
		if user, _, err := r.userCode(c, x); user != 0 || err != nil {
			return a, err
		}
		if a, err = r.follows(c, x); a == 0 || err != nil {
			return 0, err
		}
	}
	return 0, target.CorruptHeapf("the closures of an async form a ring or are too many")
}

// end returns what receives the result of an async: a task, or the closure that wakes a thread.
func (c *computation) end(r *Reader, a target.Addr, x objects.Instance) (target.Addr, error) {
	if c.source == nil {
		return a, nil
	}
	o, err := c.source.At(target.Addr(x)).Object()
	if err != nil || o.Addr == 0 {
		return 0, err
	}
	s, at, err := objects.BindObject[*promiseSource](r.b, o)
	if err != nil {
		return 0, err
	}
	return s.Task.Addr(at)
}

// Releases returns the event that the closure at a sets when an async completes. A thread waits for it in
// Async.RunSynchronously. Releases returns 0 if a is another object or no thread waits yet.
func (r *Reader) Releases(a target.Addr) (target.Addr, error) {
	k, err := r.kindOf(a)
	if err != nil || k.computation == nil || k.computation.result == nil {
		return 0, err
	}
	o, err := k.computation.result.At(target.Addr(objects.InstanceAt(a))).Object()
	if err != nil || o.Addr == 0 {
		return 0, err
	}
	cell, x, err := objects.BindObject[*resultCell](r.b, o)
	if err != nil {
		return 0, err
	}
	return cell.Event.Addr(x)
}

// follows returns the closure that continues after a computation.
func (r *Reader) follows(c *computation, x objects.Instance) (target.Addr, error) {
	s, err := c.at.At(target.Addr(x)).Struct()
	if err != nil {
		return 0, err
	}
	shape, err := objects.Bind[*activation](r.b, s.Type)
	if err != nil {
		return 0, err
	}
	o, err := shape.Contents.Object(objects.InstanceIn(s))
	if err != nil || o.Addr == 0 {
		return 0, err
	}
	contents, at, err := objects.BindObject[*activationContents](r.b, o)
	if err != nil {
		return 0, err
	}
	return contents.Next.Addr(at)
}

// waitingClosure returns the closure that continues after a mailbox or timer, or 0.
func (r *Reader) waitingClosure(k *kind, a target.Addr) (target.Addr, error) {
	x := objects.InstanceAt(a)
	if k.timer != nil {
		o, err := k.timer.Callback.Object(x)
		if err != nil || o.Addr == 0 {
			return 0, err
		}
		d, at, is, err := shapes.TryBind[*delegate](r.b, o)
		if !is || err != nil {
			return 0, err
		}
		return d.Target.Addr(at)
	}
	o, err := k.mailbox.Saved.Object(x)
	if err != nil || o.Addr == 0 {
		return 0, err
	}
	some, at, is, err := shapes.TryBind[*someClosure](r.b, o)
	if !is || err != nil {
		return 0, err // not an FSharpOption: nothing waits, or it is unreadable
	}
	return some.Value.Addr(at)
}

// addFSharp gathers a computation, or a mailbox or timer with a waiting closure.
func (c *collector) addFSharp(a target.Addr, k *kind) {
	var next target.Addr
	var err error
	if k.computation != nil {
		x := objects.InstanceAt(a)
		if k.computation.at == nil {
			return
		}
		var user target.Addr
		if user, _, err = c.r.userCode(k.computation, x); err == nil {
			if user == 0 {
				return // only FSharp.Core continues: the chain is followed through it
			}
			next, err = c.r.follows(k.computation, x)
		}
	} else if next, err = c.r.waitingClosure(k, a); err == nil && next == 0 {
		return
	}
	if err == nil && next != 0 {
		next, err = c.r.computes(next)
	}
	if err != nil {
		c.lose(err)
	}
	if next == 0 && k.computation == nil {
		return
	}
	c.items = append(c.items, item{addr: a, kind: k})
	c.start = append(c.start, uint32(len(c.edges)))
	if next != 0 {
		c.edges = append(c.edges, edge{addr: next})
	}
}

// followAction adds the F# async that continues in the action of a continuation task.
func (c *collector) followAction(k *kind, a target.Addr) {
	if is, err := objects.IsShape[*antecedent](c.r.b, k.typ); !is || err != nil {
		return
	}
	action, err := k.task.Action.Object(objects.InstanceAt(a))
	if err != nil || action.Addr == 0 {
		return // code that uses the action reports the error
	}
	d, at, is, err := shapes.TryBind[*delegate](c.r.b, action)
	if !is || err != nil {
		return
	}
	closure, err := d.Target.Addr(at)
	if err != nil || closure == 0 {
		return
	}
	if next, err := c.r.computes(closure); err != nil {
		c.lose(err)
	} else if next != 0 {
		c.edges = append(c.edges, edge{addr: next})
	}
}

// revive marks the computations that waiting objects lead to. Other computations are garbage.
func (s *Set) revive() {
	var todo []int32
	for i := range s.items {
		if it := &s.items[i]; it.kind.computation != nil {
			it.pooledDone = true
		} else if !it.completed() {
			todo = append(todo, int32(i))
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range s.next(i) {
			if e.to >= 0 && s.items[e.to].kind.computation != nil && s.items[e.to].pooledDone {
				s.items[e.to].pooledDone = false
				todo = append(todo, e.to)
			}
		}
	}
}

// describeFSharp fills in the frame of a computation, mailbox or timer.
func (b *builder) describeFSharp(g *answer.Gaps, f *answer.AsyncFrame, it *item) {
	f.MethodTable = it.kind.typ.MT.Addr
	f.AsyncName = *b.r.nameOf(g, it.kind, it.addr)
	f.Kind = answer.AsyncOther
	if it.kind.computation == nil {
		return
	}
	f.Kind = answer.AsyncComputation
	user, k, err := b.r.userCode(it.kind.computation, objects.InstanceAt(it.addr))
	if err != nil || user == 0 {
		g.Note(err)
		return
	}
	f.AsyncPlace = *b.r.closurePlace(k)
	if b.o.Variables {
		f.Variables = b.r.captured(g, k, user, b.hide)
	}
}

// closurePlace returns the function and the line that created a closure. The line is the let! or do! that receives its
// result.
func (r *Reader) closurePlace(k *kind) *answer.AsyncPlace {
	place, _ := k.place.Get(func() (*answer.AsyncPlace, error) {
		p := &answer.AsyncPlace{}
		full, err := k.typ.ManagedName()
		p.Method = answer.Text{S: compilernames.Method(full), Err: err}
		if err != nil {
			return p, nil
		}
		for md, err := range k.typ.Methods() {
			if err != nil {
				p.Missing.Err = err
				break
			}
			if name, err := md.Name(); err != nil || name != "Invoke" {
				continue
			}
			at, err := r.code.FirstLine(md)
			if err != nil {
				p.Missing.Err = err
				break
			}
			p.File, p.Line = at.File, at.Line
			break
		}
		if line := closureLine(full); line > 0 && p.File != "" {
			p.Line = line
		}
		return p, nil
	})
	return place
}

// closureLine returns the line in the name of a closure, or 0.
func closureLine(full string) int {
	if i := strings.IndexAny(full, "<["); i > 0 { // type arguments follow the name
		full = full[:i]
	}
	_, rest, ok := strings.Cut(full[strings.LastIndexByte(full, '+')+1:], "@")
	if !ok {
		return 0
	}
	rest, _, _ = strings.Cut(rest, "-")
	n, err := strconv.Atoi(rest)
	if err != nil {
		return 0
	}
	return n
}

// captured returns the variables captured by a closure.
func (r *Reader) captured(g *answer.Gaps, k *kind, a target.Addr, hide mask) []answer.AsyncVariable {
	fields, err := k.typ.Fields()
	g.Note(err)
	out := []answer.AsyncVariable{}
	for _, f := range fields {
		if f.Static || f.Err() != nil || strings.HasPrefix(f.Name, "builder@") {
			continue
		}
		v := f.At(target.Addr(objects.InstanceAt(a)))
		g.Note(v.Err())
		name, err := f.TypeName(dac.NameManaged)
		out = append(out, hide.variable(f.Name, answer.AsyncLocal, answer.Text{S: name, Err: err}, v))
	}
	return out
}

// fsharpWords describes what asyncs wait for at a mailbox or timer. It returns the zero Statement for other kinds.
func (r *Reader) fsharpWords(w waiter) (answer.Statement, error) {
	switch {
	case w.kind.mailbox != nil:
		return words.AMessage.Of(), nil
	case w.kind.timer != nil:
		due, err := w.kind.timer.Due.Uint(objects.InstanceAt(w.addr))
		return words.Sleep.Of(words.Duration(time.Duration(due) * time.Millisecond)), err
	}
	return answer.Statement{}, nil
}

// computing describes a waiting async. It does not read the earlier calls of its functions.
func (r *Reader) computing(it *item) *Suspended {
	out := &Suspended{Object: it.addr, Err: target.Unsupportedf("the calls of F#'s asyncs are not read")}
	if user, k, err := r.userCode(it.kind.computation, objects.InstanceAt(it.addr)); err != nil {
		out.Err = err
	} else if user != 0 {
		out.Place = r.closurePlace(k)
		out.Name = out.Place.Method
	}
	return out
}
