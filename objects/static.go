package objects

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// ErrNotInitialised says that a static field has no value, not even zero: the
// class constructor has not finished, or the storage does not exist yet. It is
// a kind of target.ErrUnsupported, as a null reference is.
var ErrNotInitialised = answer.ErrNotInitialised

// A Static is what a static field holds, or why it holds nothing.
type Static struct {
	State dac.StaticState
	Slot  target.Addr // where the field is stored; of a struct the reference to its box; 0 for nowhere
	Err   error       // why the storage was not found

	// Value is the field's value. Its error is Err where that is not nil,
	// ErrNotInitialised where there is no value yet, and target.ErrNotInDump
	// where zero is stored and the dump lacks what would tell whether the class
	// constructor has run (dac.StaticUnknown).
	Value Value
	// Stored is what the memory at Slot holds so far, whatever State is; of
	// KindUnknown and without a meaning where Slot is 0.
	Stored Value
}

// StaticValue reads a static field that all threads share, of the type that
// declares it.
func (f *Field) StaticValue() Static {
	at, err := f.Declaring.r.rt.StaticField(f.Declaring.MT, &f.FieldDesc)
	return f.static(at, err)
}

// ThreadStatic reads the value that thread t has of a thread static.
func (f *Field) ThreadStatic(t *dac.Thread) Static {
	at, err := f.Declaring.r.rt.ThreadStaticField(f.Declaring.MT, &f.FieldDesc, t)
	return f.static(at, err)
}

func (f *Field) static(at dac.StaticAddr, err error) Static {
	s := Static{State: at.State, Slot: at.Addr, Err: err}
	if err == nil && at.Addr != 0 {
		f.readStatic(&s)
	}
	s.Value = s.Stored
	if err := s.lack(); err != nil {
		s.Value = Value{r: f.Declaring.r, at: s.Stored.at, elem: f.ElementType, field: f, err: err}
	}
	return s
}

// lack is why the static field has no value, nil if it has.
func (s *Static) lack() error {
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
		return fmt.Errorf("whether the static field is initialised: %w", target.ErrNotInDump)
	}
	return nil
}

// readStatic reads what is stored at s.Slot.
func (f *Field) readStatic(s *Static) {
	r, data := f.Declaring.r, s.Slot
	if f.ElementType == metadata.ElementValueType && !f.RVA {
		// The slot refers to a box.
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
