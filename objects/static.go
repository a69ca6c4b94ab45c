package objects

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Static is what a static field holds, or why it holds nothing.
type Static struct {
	State dac.StaticState
	Slot  target.Addr // where the field is stored; of a struct the reference to its box; 0 for nowhere
	Err   error       // why the storage was not found

	// Value is what is stored, if Slot is not 0. It is the field's value when
	// State is dac.StaticReady; before the class constructor has finished it is
	// what the memory holds so far.
	Value Value
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
	if err != nil || at.Addr == 0 {
		return s
	}
	r, data := f.Declaring.r, at.Addr
	if f.ElementType == metadata.ElementValueType && !f.RVA {
		// The slot refers to a box.
		box, err := target.Pointer(r.mem, at.Addr)
		if err != nil || box == 0 {
			s.Value = Value{r: r, elem: f.ElementType, field: f, err: err}
			if err == nil {
				s.State = dac.StaticNotInitialized
			}
			return s
		}
		data = box + dac.ObjectHeaderBytes
	}
	s.Value = r.value(f.ElementType, data, f, nil)
	return s
}
