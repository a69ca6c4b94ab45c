package objects

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// ErrNotInitialised reports that a static field has no value yet, not even zero: the class constructor has not
// finished, or the storage does not exist. It wraps target.ErrUnsupported.
var ErrNotInitialised = answer.ErrNotInitialised

// A Static is the value of a static field, or the reason why the field has no value.
type Static struct {
	State dac.StaticState
	Slot  target.Addr // where the field is stored; for a struct, the reference to its box; 0 if it has no storage
	Err   error       // why the storage was not found

	// Value is the field's value. It fails with Err if that is not nil, and with ErrNotInitialised if there is no value
	// yet. If zero is stored and the dump does not show whether the class constructor has run (dac.StaticUnknown), it
	// fails with target.ErrNotInDump.
	Value Value
	// Stored is the content of the memory at Slot, whatever State is. It is of KindUnknown if Slot is 0.
	Stored Value
}

// StaticValue reads a static field that all threads share. The error is target.ErrArgument for an instance field and for
// a thread static.
func (f *Field) StaticValue() Static {
	if f == nil || f.Declaring == nil {
		return noStatic()
	}
	if !f.Static || f.Thread {
		return f.static(dac.StaticAddr{}, f.misused())
	}
	at, err := f.Declaring.r.Runtime().StaticField(f.Declaring.MT, &f.FieldDesc)
	return f.static(at, err)
}

// ThreadStatic reads thread t's value of a thread static. The error is target.ErrArgument for other fields and for a nil
// thread.
func (f *Field) ThreadStatic(t *dac.Thread) Static {
	if f == nil || f.Declaring == nil {
		return noStatic()
	}
	if !f.Thread {
		return f.static(dac.StaticAddr{}, f.misused())
	}
	at, err := f.Declaring.r.Runtime().ThreadStaticField(f.Declaring.MT, &f.FieldDesc, t)
	return f.static(at, err)
}

// noStatic is the value of a nil Field.
func noStatic() Static {
	v := Value{err: errNoField}
	return Static{Err: errNoField, Value: v, Stored: v}
}

func (f *Field) static(at dac.StaticAddr, err error) Static {
	s := Static{State: at.State, Slot: at.Addr, Err: err}
	if err == nil && at.Addr != 0 {
		f.readStatic(&s)
	}
	s.Value = s.Stored
	if err := s.valueErr(); err != nil {
		s.Value = Value{r: f.Declaring.r, at: s.Stored.at, elem: f.ElementType, field: f, err: err}
	}
	return s
}

// valueErr returns why the static field has no value, or nil.
func (s *Static) valueErr() error {
	switch {
	case s.Err != nil:
		return s.Err
	case s.State == dac.StaticNone:
		return target.Unsupportedf("an open generic type has no static fields")
	case s.State == dac.StaticFailed:
		return answer.ErrInitializerFailed
	case s.State == dac.StaticNotInitialized || s.Slot == 0:
		return ErrNotInitialised
	case s.State == dac.StaticUnknown && s.Stored.err == nil && s.Stored.kind() != KindStruct && s.Stored.bits == 0:
		return fmt.Errorf("can't decide whether the static field is initialised: %w", target.ErrNotInDump)
	}
	return nil
}

// readStatic reads the value at s.Slot.
func (f *Field) readStatic(s *Static) {
	r, data := f.Declaring.r, s.Slot
	if f.ElementType == metadata.ElementValueType && !f.RVA {
		// The slot refers to a boxed struct.
		box, err := target.Pointer(r.mem, s.Slot)
		if err != nil || box == 0 {
			s.Stored = Value{r: r, elem: f.ElementType, field: f, err: err}
			if err == nil && s.State != dac.StaticFailed {
				s.State = dac.StaticNotInitialized
			}
			return
		}
		data = box + dac.ObjectHeaderBytes
	}
	s.Stored = r.value(f.ElementType, data, f, nil)
}
