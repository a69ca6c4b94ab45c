package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// An ExceptionState is the runtime's record of an exception while a thread handles it (ExInfo, exinfo.h; before 9
// ExceptionTracker, exceptionhandling.h). Verified on 3.1, 6, 8, 9 and 10.
type ExceptionState struct {
	Addr   target.Addr
	Thrown target.Addr // the exception object, 0 before it exists
	// Record and Context are the EXCEPTION_RECORD and the CONTEXT (winnt.h) of the fault or throw, which the
	// runtime keeps on every system. They are 0 if missing or unknown.
	Record, Context target.Addr
	// Flags are ExceptionFlags (exstatecommon.h). FlagsKnown reports whether the layout has them.
	Flags      ExceptionFlags
	FlagsKnown bool
}

// ExceptionFlags are the flags of an ExceptionState (exstatecommon.h, class ExceptionFlags).
type ExceptionFlags uint32

// ExceptionUnhandled means that no handler was found.
const ExceptionUnhandled ExceptionFlags = 0x800

// A stateLayout has the offsets of an ExceptionState's members in either structure. The thrown object is in the
// structure or in a handle.
type stateLayout struct{ previous, thread, thrown, handle, record, context, flags int }

func (r *Runtime) stateLayout() stateLayout {
	const none = layout.Absent
	if x := &r.off.ExceptionInfo; x.Previous != none {
		return stateLayout{x.Previous, none, x.Object, x.Thrown, x.Record, x.Context, x.Flags}
	}
	if x := &r.off.ExInfo; x.Thrown != none {
		return stateLayout{x.Previous, none, x.Thrown, none, none, none, none}
	}
	x := &r.off.Tracker
	return stateLayout{x.Previous, x.Thread, none, x.Thrown, x.Record, x.Context, x.Flags}
}

// ExceptionStates returns the exceptions that t is handling, the innermost first. It returns the states found
// together with an error.
func (r *Runtime) ExceptionStates(t *Thread) ([]ExceptionState, error) {
	if t == nil {
		return nil, errNoThread
	}
	if t.unknownStates != nil {
		return nil, t.unknownStates
	}
	if err := r.layout.Refused("Exception"); err != nil {
		return nil, err
	}
	var out []ExceptionState
	o := r.stateLayout()
	seen := map[target.Addr]bool{}
	for at := t.ExInfo; at != 0; {
		if seen[at] || len(seen) >= limits.NestedExceptions {
			return out, target.Corruptf("the exceptions that thread %d is handling have no end", t.ManagedID)
		}
		seen[at] = true
		if err := r.proveState(&o, t, at, out); err != nil {
			return out, err
		}
		s, previous, err := r.readState(&o, at)
		if err != nil {
			return out, err
		}
		out, at = append(out, s), previous
	}
	return out, nil
}

// ExceptionSlots returns the addresses of the references to the exceptions that t is handling, the innermost
// first. Since .NET 11 these are roots (dotnet/runtime pull request 127300, ScanStackRoots). Before, handles
// hold the exceptions, and it returns none.
func (r *Runtime) ExceptionSlots(t *Thread) ([]target.Addr, error) {
	if t == nil {
		return nil, errNoThread
	}
	if r.off.ExceptionInfo.Object == layout.Absent {
		return nil, nil
	}
	states, err := r.ExceptionStates(t)
	slots := make([]target.Addr, len(states))
	for i := range states {
		slots[i] = states[i].Addr + target.Addr(r.off.ExceptionInfo.Object)
	}
	return slots, err
}

// proveState proves that the structure at a belongs to t. Before 9 it refers to its thread. Since 9 it is on
// t's stack, above the states that began later.
func (r *Runtime) proveState(o *stateLayout, t *Thread, a target.Addr, inner []ExceptionState) error {
	if o.thread != layout.Absent {
		owner, err := r.ptr(a, o.thread, "ExceptionTracker.Thread")
		if err == nil && owner != t.Addr {
			err = target.Corruptf("exception tracker %016x of thread %d belongs to %016x", uint64(a), t.ManagedID, uint64(owner))
		}
		return err
	}
	if t.Stack.Size() > 0 && !t.Stack.Contains(a) || len(inner) > 0 && a <= inner[len(inner)-1].Addr {
		return target.Corruptf("ExInfo %016x of thread %d is not on its stack, in order", uint64(a), t.ManagedID)
	}
	return nil
}

func (r *Runtime) readState(o *stateLayout, a target.Addr) (s ExceptionState, previous target.Addr, err error) {
	rd := layout.Reader{Mem: r.mem, Base: a}
	s = ExceptionState{Addr: a}
	previous = rd.Ptr(o.previous)
	handle := target.Addr(0)
	if o.thrown != layout.Absent {
		s.Thrown = rd.Ptr(o.thrown)
	} else {
		handle = rd.Ptr(o.handle)
	}
	if s.FlagsKnown = o.flags != layout.Absent; s.FlagsKnown {
		s.Flags = ExceptionFlags(rd.U32(o.flags))
	}
	if o.record != layout.Absent && o.context != layout.Absent {
		s.Record, s.Context = rd.Ptr(o.record), rd.Ptr(o.context)
	}
	if rd.Err == nil && handle != 0 {
		s.Thrown, rd.Err = target.Pointer(r.mem, handle)
	}
	if rd.Err != nil {
		rd.Err = fmt.Errorf("exception state %016x: %w", uint64(a), rd.Err)
	}
	return s, previous, rd.Err
}

// CurrentException returns the exception that t is handling now, from the innermost ExceptionState, or 0.
func (r *Runtime) CurrentException(t *Thread) (target.Addr, error) {
	states, err := r.ExceptionStates(t)
	if len(states) == 0 {
		return 0, err
	}
	return states[0].Thrown, nil
}

// NestedExceptions returns the exceptions that t was handling when the current one was thrown, the innermost
// first.
func (r *Runtime) NestedExceptions(t *Thread) ([]target.Addr, error) {
	states, err := r.ExceptionStates(t)
	var out []target.Addr
	for i := range states {
		if i > 0 && states[i].Thrown != 0 {
			out = append(out, states[i].Thrown)
		}
	}
	return out, err
}
