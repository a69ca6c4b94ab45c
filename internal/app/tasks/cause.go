package tasks

import (
	"errors"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Cause is the kind of thing that the last object of a chain of awaits waits for.
type Cause uint8

// The causes.
const (
	CauseUnknown      Cause = iota
	CauseNone               // nothing: it has completed or is running
	CauseSemaphore          // a SemaphoreSlim
	CauseChannelRead        // an item in a channel
	CauseChannelWrite       // room in a channel
	CauseChannel            // a channel; the type does not show whether it reads or writes
	CauseDelay              // a Task.Delay
	CauseForever            // an infinite Task.Delay
	CauseTick               // a PeriodicTimer
	CausePromise            // a TaskCompletionSource
	CauseStream             // a socket or a pipe
	CausePool               // a worker of the thread pool, or its start
	CauseRunning            // the end of a method that a thread runs
	CauseTasks              // one or all of several tasks
	CauseMessage            // a message for a MailboxProcessor of F#
	CauseFile               // a read of a file that can seek, or a write, which a worker of the thread pool does
)

// causes maps classes, or their base classes, to causes. For operations of channels before .NET 10, see sources.
var causes = map[string]Cause{
	"System.Threading.SemaphoreSlim+TaskNode":                                                 CauseSemaphore,
	"System.Threading.Tasks.UnwrapPromise`1":                                                  CauseTasks,
	"System.Threading.Tasks.Task+WhenAllPromise":                                              CauseTasks,
	"System.Threading.Tasks.Task+WhenAllPromise`1":                                            CauseTasks,
	"System.Threading.Tasks.Task+TwoTaskWhenAnyPromise`1":                                     CauseTasks,
	"System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise":                              CauseTasks,
	"System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise`1":                            CauseTasks,
	"System.Net.Sockets.Socket+AwaitableSocketAsyncEventArgs":                                 CauseStream,
	"System.IO.Pipelines.Pipe+DefaultPipeReader":                                              CauseStream,
	"System.IO.Pipelines.Pipe+DefaultPipeWriter":                                              CauseStream,
	"Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets.Internal.SocketAwaitableEventArgs": CauseStream,
	"System.Threading.PeriodicTimer+State":                                                    CauseTick,
	"System.Threading.Channels.BlockedReadAsyncOperation`1":                                   CauseChannelRead,
	"System.Threading.Channels.WaitingReadAsyncOperation":                                     CauseChannelRead,
	"System.Threading.Channels.BlockedWriteAsyncOperation`1":                                  CauseChannelWrite,
	"System.Threading.Channels.WaitingWriteAsyncOperation":                                    CauseChannelWrite,
	"System.Threading.Channels.VoidAsyncOperationWithData`1":                                  CauseChannelWrite,
	"System.Threading.Channels.AsyncOperation":                                                CauseChannel,
	"System.Threading.Channels.AsyncOperation`1":                                              CauseChannel,
	"Microsoft.FSharp.Control.Mailbox`1":                                                      CauseMessage,
}

// CauseOf returns what the last object of a chain of awaits waits for.
func (r *Reader) CauseOf(a target.Addr) (Cause, error) {
	k, err := r.kindOf(a)
	if err != nil {
		return CauseUnknown, err
	}
	w := waiter{a, k}
	x, m, err := r.machineIn(k, a)
	if errors.Is(err, errCleared) {
		return CauseNone, nil
	}
	if err != nil {
		return CauseUnknown, err
	}
	if m != nil {
		return r.causeOfMachine(m, x)
	}
	if k.timer != nil {
		return r.causeOfSleep(k, objects.InstanceAt(a))
	}
	if k.task != nil { // whatever completes a task of this class, it has
		if bits, err := k.task.Flags.Uint(objects.InstanceAt(a)); err == nil && Flags(bits).Completed() {
			return CauseNone, nil
		}
	}
	if c, err := r.causeOfType(k.typ); c != CauseUnknown || err != nil {
		return c, err
	}
	if t, err := r.transferOf(k.typ, a); t != noTransfer || err != nil {
		return t.cause(), err
	}
	if k.task == nil {
		return CauseUnknown, nil
	}
	return r.causeOfTask(w)
}

// Completed reports whether an object is a task that has completed.
func (r *Reader) Completed(a target.Addr) (bool, error) {
	k, err := r.kindOf(a)
	if err != nil || k.task == nil {
		return false, err
	}
	bits, err := k.task.Flags.Uint(objects.InstanceAt(a))
	return err == nil && Flags(bits).Completed(), err
}

// causeOfMachine returns the cause of a method that awaits no object.
func (r *Reader) causeOfMachine(m *machine, x objects.Instance) (Cause, error) {
	state, ok, err := m.state(x)
	switch {
	case err != nil:
		return CauseNone, err
	case !ok:
		return CauseUnknown, nil
	case state < 0:
		return CauseNone, nil
	}
	f, v, _, err := m.awaiter(r, x, state)
	if err != nil || f == nil {
		return CauseUnknown, err
	}
	var t *objects.Type
	if s, structErr := v.Struct(); structErr == nil {
		t = s.Type
	}
	if t == nil {
		return CauseUnknown, nil
	}
	if is, err := objects.IsShape[*yieldAwaiter](r.b, t); is || err != nil {
		return CausePool, err
	}
	return CauseUnknown, nil
}

// causeOfType looks up a class and its base classes in causes.
func (r *Reader) causeOfType(t *objects.Type) (Cause, error) {
	for range limits.ParentChain {
		name, err := r.b.Definition(t)
		if err != nil {
			return CauseUnknown, err
		}
		if c := causes[name]; c != CauseUnknown {
			return c, nil
		}
		if isTimerAwaitable(name) {
			return CauseTick, nil
		}
		if t, err = t.Base(); t == nil || err != nil {
			return CauseUnknown, err
		}
	}
	return CauseUnknown, nil
}

// isTimerAwaitable reports whether a class is SignalR's TimerAwaitable, shared source that several assemblies compile
// into their namespaces.
func isTimerAwaitable(name string) bool {
	return strings.HasPrefix(name, "Microsoft.AspNetCore.") && strings.HasSuffix(name, ".TimerAwaitable")
}

// causeOfTask returns the cause of a task by its flags.
func (r *Reader) causeOfTask(w waiter) (Cause, error) {
	x := objects.InstanceAt(w.addr)
	bits, err := w.kind.task.Flags.Uint(x)
	if err != nil {
		return CauseUnknown, err
	}
	flags := Flags(bits)
	if flags.Completed() {
		return CauseNone, nil
	}
	if w.kind.runtimeAsync {
		s, err := objects.Bind[*suspendedTask](r.b, w.kind.typ)
		if err != nil {
			return CauseUnknown, err
		}
		if at, err := s.State.Addr(x); err != nil || at == 0 {
			return CauseNone, err
		}
		return CauseUnknown, nil
	}
	if s, err := objects.Bind[*delayPromise](r.b, w.kind.typ); err == nil {
		return r.causeOfDelay(s, x)
	} else if !errors.Is(err, objects.ErrOtherType) {
		return CauseUnknown, err
	}
	action, err := w.kind.task.Action.Addr(x)
	switch {
	case err != nil:
		return CauseUnknown, err
	case action != 0 && flags&FlagDelegateInvoked != 0:
		return CauseRunning, nil
	case action != 0 && flags&FlagWaitingForActivation == 0:
		return CausePool, nil
	}
	if flushes, err := r.flushes(w); flushes || err != nil {
		return CauseStream, err
	}
	return CausePromise, nil
}

// flushes reports whether a promise is the end of a flush of a pipe: of a response, what its client has to read. Kestrel shares one promise among all that flush
// (ConcurrentPipeWriter.cs).
func (r *Reader) flushes(w waiter) (bool, error) {
	name, err := w.kind.typ.ManagedName()
	return name == "System.Threading.Tasks.Task<System.IO.Pipelines.FlushResult>", err
}

// causeOfSleep distinguishes a finite Async.Sleep of F# from an infinite one.
func (r *Reader) causeOfSleep(k *kind, x objects.Instance) (Cause, error) {
	due, err := k.timer.Due.Uint(x)
	switch {
	case err != nil:
		return CauseUnknown, err
	case due == 1<<32-1:
		return CauseForever, nil
	}
	return CauseDelay, nil
}

// causeOfDelay distinguishes infinite Task.Delays, which have no timer, and ones that have elapsed. The callback of the latter runs or waits for a
// worker of the pool.
func (r *Reader) causeOfDelay(s *delayPromise, x objects.Instance) (Cause, error) {
	timer, err := s.Timer.Object(x)
	if err != nil {
		return CauseUnknown, err
	}
	if timer.Addr == 0 {
		return CauseForever, nil
	}
	t, err := objects.Bind[*queueTimer](r.b, timer.Type)
	if err != nil {
		return CauseDelay, nil // of the program's TimeProvider
	}
	due, err := t.Due.Uint(objects.InstanceOf(timer))
	if err != nil {
		return CauseUnknown, err
	}
	if due == elapsed {
		return CausePool, nil
	}
	return CauseDelay, nil
}
