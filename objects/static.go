package objects

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A Static is what a static field holds, or why it holds nothing.
type Static struct {
	State dac.StaticState
	Slot  target.Addr // where the field is stored; of a struct the reference to its box
	Value Value       // meaningful when State is dac.StaticReady and Err nil
	Err   error       // why the storage was not found
}

// StaticValue reads a static field that all threads share, of the type that
// declares it. A field of a class whose constructor has not finished is not
// read: it has no value.
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
	if err != nil || at.State != dac.StaticReady {
		return s
	}
	r, data := f.Declaring.r, at.Addr
	if f.ElementType == metadata.ElementValueType && !f.RVA {
		// The slot refers to a box.
		box, err := target.Pointer(r.mem, at.Addr)
		switch {
		case err != nil:
			s.Value = Value{r: r, at: at.Addr, elem: f.ElementType, field: f, err: err}
			return s
		case box == 0:
			s.State = dac.StaticNotInitialized
			return s
		}
		data = box + dac.ObjectHeaderBytes
	}
	s.Value = r.value(f.ElementType, data, f, nil)
	return s
}
