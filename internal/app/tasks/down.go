package tasks

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// down describes what the first frame of a stack waits for: the awaited object, what that object awaits in turn, and
// the last cause.
func (b *builder) down(out *answer.AsyncStack, i int32) {
	it := &b.items[i]
	var seen map[target.Addr]bool
	at := waiter{addr: it.addr, kind: it.kind}
	first := true
	for range limits.AsyncWaits {
		next, says, awaiter, err := b.r.waitsFor(at)
		if first {
			out.Awaiter = awaiter
			first = false
		}
		if err != nil {
			out.Note(err)
			out.Reason = answer.Text{Err: err}
			return
		}
		if next == 0 {
			out.Explain(b.r.withPeer(&out.Gaps, at.addr, says))
			b.outside(out)
			b.remote(out)
			return
		}
		if seen == nil {
			seen = map[target.Addr]bool{it.addr: true}
		}
		if seen[next] {
			out.Explain(words.AwaitsARing.Of())
			out.Ring = next
			return
		}
		seen[next] = true
		f := answer.AsyncFrame{Depth: len(out.Waits) + 1, Object: next}
		if n := b.at(next); n >= 0 {
			b.describe(&out.Gaps, &f, n)
			at = waiter{addr: next, kind: b.items[n].kind}
		} else if at, err = b.stranger(&out.Gaps, &f); err != nil {
			out.Reason = answer.Text{Err: err}
			return
		}
		out.Waits = append(out.Waits, f)
	}
	out.Reason = answer.Text{Err: target.Unsupportedf("more than %d objects that wait for each other", limits.AsyncWaits)}
}

// A waiter is an object that waits or is waited for.
type waiter struct {
	addr target.Addr
	kind *kind
}

// stranger describes an awaited object that is not an item: an iterator, a value task source, or a task that the heap
// walk missed.
func (b *builder) stranger(g *answer.Gaps, f *answer.AsyncFrame) (waiter, error) {
	b.describeOther(g, f)
	k, err := b.r.kindOf(f.Object)
	if err != nil {
		return waiter{}, err
	}
	x, m, err := b.r.machineIn(k, f.Object)
	if err != nil || m == nil {
		return waiter{addr: f.Object, kind: k}, nil
	}
	state, ok, err := m.state(x)
	if err != nil {
		return waiter{}, err
	}
	f.AsyncPlace = *m.place(b.r, state, ok)
	if ok {
		f.State = &state
	}
	return waiter{addr: f.Object, kind: k}, nil
}

// machineIn returns the state machine in a box, or the object itself if it is an iterator. It returns nil for other
// objects.
func (r *Reader) machineIn(k *kind, a target.Addr) (objects.Instance, *machine, error) {
	if k.machine() {
		return r.machineOf(k, a)
	}
	if _, err := objects.Bind[*iteratorShape](r.b, k.typ); err != nil {
		return 0, nil, nil
	}
	return objects.InstanceAt(a), r.machineType(k.typ), nil
}

// waitsFor returns what an object waits for: the next object of the chain, or 0 and a description. It also returns a
// state machine's awaiter.
func (r *Reader) waitsFor(w waiter) (next target.Addr, says answer.Statement, awaiter *answer.AsyncAwaiter, err error) {
	if w.kind.task != nil && w.kind.machine() {
		flags, err := w.kind.task.Flags.Uint(objects.InstanceAt(w.addr))
		if err != nil || Flags(flags).Completed() {
			return 0, words.HasCompleted.Of(answer.Statement{}), nil, err
		}
	}
	x, m, err := r.machineIn(w.kind, w.addr)
	if errors.Is(err, errCleared) {
		return 0, unsuspended(-1), nil, nil // a moment of a method that starts or ends
	}
	if err != nil {
		return 0, answer.Statement{}, nil, err
	}
	if m == nil {
		next, says, err = r.ends(w)
		return next, says, nil, err
	}
	state, ok, err := m.state(x)
	switch {
	case err != nil:
		return 0, answer.Statement{}, nil, err
	case !ok:
		return r.statelessWait(m, x)
	case state < 0:
		return 0, unsuspended(state), nil, nil
	}
	f, value, guessed, err := m.awaiter(r, x, state)
	if err != nil || f == nil {
		return 0, words.UnknownAwaiter.Of(), nil, err
	}
	awaiter, next, says, err = r.awaited(f, value)
	if awaiter != nil {
		awaiter.Guessed = guessed
	}
	return next, says, awaiter, err
}

// statelessWait is waitsFor for a stateless machine. The machine waits for the only incomplete task of its awaiters. An
// unreadable field may be another awaiter and is an error.
func (r *Reader) statelessWait(m *machine, x objects.Instance) (next target.Addr, says answer.Statement, awaiter *answer.AsyncAwaiter, err error) {
	unknown := words.ByHand.Of()
	fields, err := m.typ.Fields()
	if err != nil {
		return 0, unknown, nil, err
	}
	for _, f := range fields {
		if f.Static {
			continue
		}
		a, on, err := r.openTask(f, x)
		switch {
		case err != nil:
			return 0, unknown, nil, err
		case on == 0:
		case next != 0:
			return 0, unknown, nil, nil
		default:
			next, awaiter = on, a
			awaiter.Guessed = true
		}
	}
	if next == 0 {
		return 0, unknown, nil, nil
	}
	return next, answer.Statement{}, awaiter, nil
}

// openTask returns the incomplete task of the awaiter in a field. It returns 0 if the task has completed or the field
// holds no task awaiter.
func (r *Reader) openTask(f *objects.Field, x objects.Instance) (awaiter *answer.AsyncAwaiter, task target.Addr, err error) {
	if f.Err() != nil {
		return nil, 0, f.Err()
	}
	v := f.At(target.Addr(x))
	if v.Kind() != objects.KindStruct {
		return nil, 0, nil
	}
	s, err := v.Struct()
	if err != nil {
		return nil, 0, err
	}
	if is, err := objects.IsShape[*taskAwaiter](r.b, s.Type); err != nil || !is {
		return nil, 0, err
	}
	awaiter, on, _, err := r.awaited(f, v)
	if err != nil || on == 0 {
		return nil, 0, err
	}
	k, err := r.kindOf(on)
	if err != nil || k.task == nil {
		return nil, 0, err
	}
	flags, err := k.task.Flags.Uint(objects.InstanceAt(on))
	if err != nil || Flags(flags).Completed() {
		return nil, 0, err
	}
	return awaiter, on, nil
}

// unsuspended describes the position of a method that is not suspended at an await.
func unsuspended(state int32) answer.Statement {
	switch state {
	case -1:
		return words.RunsNow.Of()
	case -2:
		return words.HasEnded.Of()
	}
	return words.NextElement.Of()
}

// awaiter returns the field that holds the awaiter of a suspended method, or nil if it is unknown. The code names the
// field. Without code it is the only awaiter field, the first field for the first await, or the only field that is not
// empty: compilers clear awaiters after use, and one of an unread type may be in use. guessed reports a choice without code.
func (m *machine) awaiter(r *Reader, x objects.Instance, state int32) (f *objects.Field, v objects.Value, guessed bool, err error) {
	fields, err := m.layout()
	if err != nil && len(fields.awaiters) == 0 {
		return nil, v, false, err
	}
	if sites, err := m.sites(r); err == nil && sites[state].field != "" {
		for _, f := range fields.awaiters {
			if f.Name == sites[state].field {
				return f, f.At(target.Addr(x)), false, nil
			}
		}
	}
	if f = fields.awaiterAt(state); f != nil {
		return f, f.At(target.Addr(x)), false, nil
	}
	for _, a := range fields.awaiters {
		v := a.At(target.Addr(x))
		empty, err := isEmpty(v)
		if err != nil {
			return nil, v, true, err
		}
		if !empty {
			return a, v, true, nil
		}
	}
	return nil, v, true, nil
}

// awaiterAt returns the only awaiter, or the first await's, or nil. If an awaiter could not be read, such as one of Task.Yield, that one may be in
// use.
func (f *machineFields) awaiterAt(state int32) *objects.Field {
	switch {
	case f.partial:
		return nil
	case len(f.awaiters) == 1:
		return f.awaiters[0]
	case state != 0:
		return nil
	}
	at := slices.IndexFunc(f.awaiters, func(a *objects.Field) bool { return a.Name == "<>u__1" || a.Name == "$A0" })
	if at < 0 {
		return nil
	}
	return f.awaiters[at]
}

// isEmpty reports whether a value is null or a value type of zeros only.
func isEmpty(v objects.Value) (bool, error) {
	if v.Kind() != objects.KindStruct {
		bits, err := v.Bits()
		return bits == 0, err
	}
	s, err := v.Struct()
	if err != nil {
		return false, err
	}
	for _, f := range s.Fields() {
		if empty, err := isEmpty(f); err != nil || !empty {
			return false, err
		}
	}
	return true, nil
}

// awaited describes what an awaiter waits for.
func (r *Reader) awaited(f *objects.Field, v objects.Value) (a *answer.AsyncAwaiter, next target.Addr, says answer.Statement, err error) {
	var t *objects.Type
	var x objects.Instance
	a = &answer.AsyncAwaiter{Field: f.Name}
	if v.Kind() == objects.KindReference {
		o, err := v.Object()
		if err != nil {
			return nil, 0, answer.Statement{}, err
		}
		t, x, a.Address = o.Type, objects.InstanceOf(o), o.Addr
	} else {
		s, err := v.Struct()
		if err != nil {
			return nil, 0, answer.Statement{}, err
		}
		t, x, a.Address = s.Type, objects.InstanceIn(s), s.Addr
	}
	a.MethodTable = t.MT.Addr
	name, err := t.ManagedName()
	a.Type = answer.Text{S: name, Err: err}
	if s, err := objects.Bind[*taskAwaiter](r.b, t); err == nil {
		next, err := s.Task.Addr(x)
		return a, next, words.TaskLeft.Of(), err
	}
	if s, err := objects.Bind[*valueTaskAwaiter](r.b, t); err == nil {
		next, err := s.Object.Addr(x)
		return a, next, words.ValueTaskDone.Of(), err
	}
	if is, err := objects.IsShape[*yieldAwaiter](r.b, t); is && err == nil {
		return a, 0, words.TurnAfterYield.Of(), nil
	}
	if v.Kind() == objects.KindReference {
		return a, a.Address, answer.Statement{}, nil
	}
	return a, 0, words.ItsAwaiter.Of(words.Type(a.Type.String())), nil
}

// ends returns what an object that is not a state machine waits for.
func (r *Reader) ends(w waiter) (next target.Addr, says answer.Statement, err error) {
	x := objects.InstanceAt(w.addr)
	if s, err := objects.Bind[*antecedent](r.b, w.kind.typ); err == nil {
		a, err := s.Task.Addr(x)
		return a, words.TaskGone.Of(), err
	}
	if s, err := objects.Bind[*sourceAsTask](r.b, w.kind.typ); err == nil {
		a, err := s.Source.Addr(x)
		return a, words.SourceGone.Of(), err
	}
	if s, err := objects.Bind[*cancellationPromise](r.b, w.kind.typ); err == nil {
		a, err := s.Task.Addr(x)
		return a, words.TaskOrTimeout.Of(), err
	}
	if w.kind.runtimeAsync {
		if a, err := r.awaitedBy(w); a != 0 || err != nil {
			return a, answer.Statement{}, err
		}
	}
	switch {
	case w.kind.fsharp():
		says, err = r.fsharpWords(w)
	case w.kind.task == nil:
		says, err = r.sourceWords(w)
	default:
		says, err = r.taskWords(w)
	}
	return 0, says, err
}

// taskWords describes what a task waits for if it does not belong to an async method.
func (r *Reader) taskWords(w waiter) (answer.Statement, error) {
	x := objects.InstanceAt(w.addr)
	bits, err := w.kind.task.Flags.Uint(x)
	if err != nil {
		return answer.Statement{}, err
	}
	flags := Flags(bits)
	if flags.Completed() {
		return words.HasCompleted.Of(words.StatusOfTask.Of(words.Text(string(flags.Status())))), nil
	}
	if w.kind.runtimeAsync {
		return r.suspendedWords(w)
	}
	if s, err := objects.Bind[*delayPromise](r.b, w.kind.typ); err == nil {
		return r.delayWords(s, x)
	}
	if s, err := objects.Bind[*whenAll](r.b, w.kind.typ); err == nil {
		n, err := s.Remaining.Int(x)
		return words.AllOfTasks.Of(words.N(n)), err
	}
	name, err := r.b.Definition(w.kind.typ)
	if err != nil {
		return answer.Statement{}, err
	}
	if says := promises[name]; says != nil {
		return says.Of(), nil
	}
	action, err := w.kind.task.Action.Addr(x)
	switch {
	case err != nil:
		return answer.Statement{}, err
	case action != 0 && flags&FlagDelegateInvoked != 0:
		return r.runningWords(action), nil
	case action != 0 && flags&FlagStarted != 0:
		return r.turnWords(w)
	case action != 0 && flags&FlagWaitingForActivation == 0:
		return words.ItsStart.Of(), nil
	}
	if limits, err := r.limited(w); limits || err != nil {
		return words.ALimiter.Of(), err
	}
	if flushes, err := r.flushes(w); flushes || err != nil {
		return words.PipeRoom.Of(), err
	}
	return words.APromise.Of(), nil
}

// turnWords describes the queue that a task waits in.
func (r *Reader) turnWords(w waiter) (answer.Statement, error) {
	name, err := r.SchedulerOf(w.addr)
	switch {
	case err != nil:
		return answer.Statement{}, err
	case name == "":
		return words.TurnInPool.Of(), nil
	}
	return words.TurnIn.Of(words.Type(name)), nil
}

// SchedulerOf returns the class of a task's TaskScheduler, or "" for the thread pool's.
func (r *Reader) SchedulerOf(task target.Addr) (string, error) {
	_, class, err := r.Scheduler(task)
	return class, err
}

// Scheduler returns a task's TaskScheduler with its class, or 0 and "" for the thread pool's.
func (r *Reader) Scheduler(task target.Addr) (scheduler target.Addr, class string, err error) {
	k, err := r.kindOf(task)
	if err != nil || k.task == nil {
		return 0, "", err
	}
	o, err := k.task.Scheduler.Object(objects.InstanceAt(task))
	if err != nil || o.Addr == 0 {
		return 0, "", err
	}
	name, err := o.Type.ManagedName()
	if name == "System.Threading.Tasks.ThreadPoolTaskScheduler" {
		return 0, "", err
	}
	return o.Addr, name, err
}

// limited reports whether a promise is a request in the queue of a rate limiter. The limiter is its state object
// (ConcurrencyLimiter.cs, System.Threading.RateLimiting 7 and later).
func (r *Reader) limited(w waiter) (bool, error) {
	s, err := objects.Bind[*promiseState](r.b, w.kind.typ)
	if err != nil {
		return false, nil // promises of limiters always have this shape
	}
	o, err := s.State.Object(objects.InstanceAt(w.addr))
	if err != nil || o.Addr == 0 {
		return false, err
	}
	t := o.Type
	for range limits.ParentChain {
		name, err := r.b.Definition(t)
		if err != nil || name == "System.Threading.RateLimiting.RateLimiter" {
			return err == nil, err
		}
		if t, err = t.Base(); t == nil || err != nil {
			return false, err
		}
	}
	return false, nil
}

// promises describes what tasks of each class wait for.
var promises = map[string]*words.Sentence{
	"System.Threading.SemaphoreSlim+TaskNode":                      words.ASemaphore,
	"System.Threading.Tasks.UnwrapPromise`1":                       words.TaskOfTask,
	"System.Threading.Tasks.Task+TwoTaskWhenAnyPromise`1":          words.FirstOfTwo,
	"System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise":   words.FirstOfTasks,
	"System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise`1": words.FirstOfTasks,
}

// sources describes what value task sources of each class wait for. .NET 10 and later have a class for each kind of
// wait on a channel. Before, only a blocked write has its own class (Channels/AsyncOperation.cs, .NET 6 to 11).
var sources = map[string]*words.Sentence{
	"System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs":                                 words.OfASocket,
	"System.IO.Pipelines.Pipe+DefaultPipeReader":                                              words.PipeData,
	"System.IO.Pipelines.Pipe+DefaultPipeWriter":                                              words.PipeRoom,
	"System.Threading.PeriodicTimer+State":                                                    words.PeriodicTick,
	"System.Threading.Channels.BlockedReadAsyncOperation`1":                                   words.AnItem,
	"System.Threading.Channels.WaitingReadAsyncOperation":                                     words.AnItem,
	"System.Threading.Channels.BlockedWriteAsyncOperation`1":                                  words.Room,
	"System.Threading.Channels.WaitingWriteAsyncOperation":                                    words.Room,
	"System.Threading.Channels.VoidAsyncOperationWithData`1":                                  words.Room,
	"System.Threading.Channels.AsyncOperation":                                                words.AnItemOrRoom,
	"System.Threading.Channels.AsyncOperation`1":                                              words.AnItemOrRoom,
	"Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets.Internal.SocketAwaitableEventArgs": words.OfASocket,
}

// sourceWords describes what an object that is not a task waits for, by its class or a base class.
func (r *Reader) sourceWords(w waiter) (answer.Statement, error) {
	t := w.kind.typ
	if does, err := r.transferOf(t, w.addr); does != noTransfer && err == nil {
		return does.says(), nil
	}
	own, err := r.b.Definition(t)
	if err != nil {
		return answer.Statement{}, err
	}
	for range limits.ParentChain {
		name, err := r.b.Definition(t)
		if says := sources[name]; says != nil && err == nil {
			if name == anOperation && !ofBool(t) {
				return words.AnItem.Of(), nil // a wait for permission to read or write returns a Boolean
			}
			return says.Of(), nil
		}
		if t, err = t.Base(); t == nil || err != nil {
			break
		}
	}
	if isTimerAwaitable(own) {
		return words.AwaitableTick.Of(), nil
	}
	return words.OfClass.Of(words.Type(own)), nil
}

// anOperation is the class of channel operations up to .NET 9.
const anOperation = "System.Threading.Channels.AsyncOperation`1"

// ofBool reports whether the type argument of a class is Boolean or unknown.
func ofBool(t *objects.Type) bool {
	name, err := t.ManagedName()
	return err != nil || strings.HasSuffix(name, "<System.Boolean>")
}

// elapsed is the due time of a timer that fired once (Timeout.UnsignedInfinite). An infinite Task.Delay makes no timer.
const elapsed = 1<<32 - 1

// delayWords describes the length of a Task.Delay.
func (r *Reader) delayWords(s *delayPromise, x objects.Instance) (answer.Statement, error) {
	timer, err := s.Timer.Object(x)
	if err != nil {
		return answer.Statement{}, err
	}
	if timer.Addr == 0 {
		return words.DelayForever.Of(), nil
	}
	t, err := objects.Bind[*queueTimer](r.b, timer.Type)
	if err != nil {
		return words.DelayProvider.Of(), nil
	}
	due, err := t.Due.Uint(objects.InstanceOf(timer))
	if due == elapsed {
		return words.DelayElapsed.Of(), err
	}
	return words.Delay.Of(words.Duration(time.Duration(due) * time.Millisecond)), err
}

// ErrElapsed is the error for a Task.Delay with a timer that has fired: its length is no longer recorded.
var ErrElapsed = target.Unsupportedf("the delay has elapsed")

// DelayOf returns the length of the Task.Delay at a, counted from its start. The error for one that has elapsed is ErrElapsed.
func (r *Reader) DelayOf(a target.Addr) (time.Duration, error) {
	o, err := r.r.TrustedObject(a)
	if err != nil {
		return 0, err
	}
	s, x, err := objects.BindObject[*delayPromise](r.b, o)
	if err != nil {
		return 0, err
	}
	timer, err := s.Timer.Object(x)
	if err != nil {
		return 0, err
	}
	return r.dueOf(timer)
}

// TickOf returns the time between the ticks of the PeriodicTimer with the state at a, while code waits for a tick.
func (r *Reader) TickOf(a target.Addr) (time.Duration, error) {
	o, err := r.r.TrustedObject(a)
	if err != nil {
		return 0, err
	}
	s, x, err := objects.BindObject[*tickState](r.b, o)
	if err != nil {
		return 0, err
	}
	owner, err := s.Owner.Object(x)
	if err != nil {
		return 0, err
	}
	p, x, err := objects.BindObject[*periodicTimer](r.b, owner)
	if err != nil {
		return 0, err
	}
	timer, err := p.Timer.Object(x)
	if err != nil {
		return 0, err
	}
	return r.dueOf(timer)
}

// dueOf returns when a timer of the runtime fires, counted from its start or its last tick. The error for one that fires no more is ErrElapsed.
func (r *Reader) dueOf(timer objects.Object) (time.Duration, error) {
	t, x, err := objects.BindObject[*queueTimer](r.b, timer)
	if err != nil {
		return 0, err
	}
	due, err := t.Due.Uint(x)
	if err == nil && due == elapsed {
		err = ErrElapsed
	}
	return time.Duration(due) * time.Millisecond, err
}

// runningWords names the method of a delegate that is running.
func (r *Reader) runningWords(delegate target.Addr) answer.Statement {
	call, err := r.call(delegate)
	if err != nil {
		return words.SomeRunning.Of()
	}
	method, err := r.methodName(call, dac.MethodQualified)
	if err != nil {
		return words.SomeRunning.Of()
	}
	return words.IsRunning.Of(words.Method(method))
}
