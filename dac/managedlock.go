package dac

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// Types of the class library that implement a monitor since .NET 11 (Lock.cs, Condition.cs). The
// shapes of package objects, which builds on this one, have the same tags.
type (
	lockFields struct {
		_         typeName     `of:"System.Threading.Lock"`
		Owner     managedField `field:"_owningThreadId"`
		State     managedField `field:"_state"`
		Recursion managedField `field:"_recursionCount"`
		Since     managedField `field:"_waiterStartTimeMs,optional"`
		// Event is the event on which threads wait to enter, or the Condition with it (dotnet/runtime pull
		// request 129083).
		Event managedField `field:"_waitEventOrCondition,optional"` // since 11
	}
	conditionFields struct {
		_     typeName     `of:"System.Threading.Condition"`
		Lock  managedField `field:"_lock"`
		First managedField `field:"_waitersHead"`
	}
	waiterFields struct {
		_    typeName     `of:"System.Threading.Condition+Waiter"`
		Next managedField `field:"next"`
	}
)

// Bits of Lock._state (Lock.cs, struct State) in .NET 9, 10 and 11.
const (
	lockStateHeld         = 1
	lockStateWaitersShift = 7
)

// A typeName is a field with the name of the type in its tag.
type typeName struct{}

// A managedField is the offset of a field in an object, 0 if the type lacks the field.
type managedField int

// bindManaged sets the fields of dst, a pointer to one of the structs above, for the object at a. It returns
// target.ErrCorrupt for an object of another type.
func (r *Runtime) bindManaged(a target.Addr, dst any) error {
	v := reflect.ValueOf(dst).Elem()
	of := v.Type().Field(0).Tag.Get("of")
	word, err := r.ObjectMethodTable(a)
	if err != nil {
		return fmt.Errorf("%s %016x: %w", of, uint64(a), err)
	}
	type key struct {
		mt  target.Addr
		dst reflect.Type
	}
	if known, ok := r.managed.Load(key{word, v.Type()}); ok {
		v.Set(known.(reflect.Value))
		return nil
	}
	mt, _, err := r.impl.methodTableAt(word)
	if err != nil {
		return fmt.Errorf("%s %016x: %w", of, uint64(a), target.InHeap(err))
	}
	switch name, err := r.TypeName(mt.Addr, NameNative); {
	case err != nil:
		return fmt.Errorf("%s %016x: %w", of, uint64(a), err)
	case name != of:
		return target.CorruptHeapf("object %016x is a %s and no %s", uint64(a), name, of)
	}
	for i := 1; i < v.NumField(); i++ {
		name, optional := strings.CutSuffix(v.Type().Field(i).Tag.Get("field"), ",optional")
		switch f, err := r.instanceField(mt, name); {
		case err == nil:
			v.Field(i).SetInt(int64(ObjectHeaderBytes + f.Offset))
		case !optional || !errors.Is(err, target.ErrUnsupported):
			return fmt.Errorf("%s: %w", of, err)
		}
	}
	r.managed.Store(key{word, v.Type()}, reflect.ValueOf(v.Interface()))
	return nil
}

// A ManagedLock is the state of a System.Threading.Lock. Since .NET 11 it implements the monitor of an object
// once threads have competed for it.
type ManagedLock struct {
	Held      bool
	OwnerID   uint32 // 0 if the lock is free
	ManagedID bool   // OwnerID is a managed thread id; before .NET 11 it is the OS's id
	Recursion uint32 // times that the owner has entered again
	Waiters   uint32 // threads waiting to enter
	Pulse     uint32 // threads waiting for a pulse (Monitor.Wait)
	PulseErr  error  // why Pulse is unknown
	// Since is when a waiter last got the lock and left others waiting, or the first of those came. It means nothing without waiters.
	Since TickStamp
}

// ManagedLock reads the System.Threading.Lock at a. It returns target.ErrCorrupt for another object.
func (r *Runtime) ManagedLock(a target.Addr) (ManagedLock, error) {
	var f lockFields
	if err := r.bindManaged(a, &f); err != nil {
		return ManagedLock{}, err
	}
	rd := layout.Reader{Mem: r.mem, Base: a}
	state := rd.U32(int(f.State))
	l := ManagedLock{Held: state&lockStateHeld != 0, OwnerID: rd.U32(int(f.Owner)), ManagedID: f.Event != 0, Waiters: state >> lockStateWaitersShift}
	if f.Since != 0 {
		l.Since = TickStamp{uint32(rd.U16(int(f.Since))), 16}
	}
	if l.Held {
		l.Recursion = rd.U32(int(f.Recursion))
	}
	switch {
	case rd.Err != nil:
		return ManagedLock{}, fmt.Errorf("lock %016x: %w", uint64(a), rd.Err)
	case !l.Held && l.OwnerID != 0: // the lock records its owner only while held
		return ManagedLock{}, target.CorruptHeapf("lock %016x is free, and thread %d owns it", uint64(a), l.OwnerID)
	}
	l.Pulse, l.PulseErr = r.pulseWaiters(a, &f)
	return l, nil
}

// pulseWaiters counts the threads that wait for a pulse of the lock at a.
func (r *Runtime) pulseWaiters(a target.Addr, f *lockFields) (uint32, error) {
	if f.Event == 0 {
		return 0, target.Unsupportedf("lock %016x does not record who waits for a pulse", uint64(a))
	}
	at, err := target.Pointer(r.mem, a+target.Addr(f.Event))
	if err != nil || at == 0 {
		return 0, err
	}
	switch name, err := r.ObjectTypeName(at); {
	case err != nil:
		return 0, err
	case name == "System.Threading.AutoResetEvent": // no thread has ever waited for a pulse
		return 0, nil
	}
	c, err := r.condition(at)
	switch {
	case err != nil:
		return 0, err
	case c.lock != a:
		return 0, target.CorruptHeapf("condition %016x of lock %016x names lock %016x", uint64(at), uint64(a), uint64(c.lock))
	}
	n := uint32(0)
	for w := c.first; w != 0; n++ {
		if n == limits.ManagedThreads {
			return n, target.CorruptHeapf("the waiters of condition %016x do not end", uint64(at))
		}
		var f waiterFields
		if err := r.bindManaged(w, &f); err != nil {
			return n, err
		}
		if w, err = target.Pointer(r.mem, w+target.Addr(f.Next)); err != nil {
			return n, err
		}
	}
	return n, nil
}

type condition struct{ lock, first target.Addr }

// condition reads the System.Threading.Condition at a.
func (r *Runtime) condition(a target.Addr) (condition, error) {
	var f conditionFields
	if err := r.bindManaged(a, &f); err != nil {
		return condition{}, err
	}
	rd := layout.Reader{Mem: r.mem, Base: a}
	c := condition{lock: rd.Ptr(int(f.Lock)), first: rd.Ptr(int(f.First))}
	return c, rd.Err
}

// LockOfCondition returns the System.Threading.Lock of the System.Threading.Condition at a.
func (r *Runtime) LockOfCondition(a target.Addr) (target.Addr, error) {
	c, err := r.condition(a)
	return c.lock, err
}
