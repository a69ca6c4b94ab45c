package scrub

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// statics returns edits that replace characters, and with numbers also numbers, in static fields of the
// program's own types. Structs are boxed in objects. Thread statics (since .NET 9) and statics of unloadable
// types with numbers are in arrays that are not only data: those stay.
func (r *runtimeOf) statics(j *job, stored []memmap.Range) (edits []edit) {
	if r.planner == nil {
		return nil
	}
	threads, _ := r.rt.Threads()
	for mt, err := range r.rt.LoadedTypes() {
		if err != nil || mt.IsArray() || mt.IsOpen() || mt.IsShared() {
			continue
		}
		if class, err := r.rt.EEClass(mt); err != nil || class.NumStaticFields == 0 {
			continue
		}
		t, err := r.planner.r.TrustedType(mt.Addr)
		if err != nil {
			continue
		}
		own := isOwnType(r.rt, mt)
		fields, _ := t.OwnFields()
		for _, f := range fields {
			if !f.Static || (objects.Leaf{Type: f.ElementType}).IsReference() {
				continue
			}
			places := []objects.Static{}
			if !f.Thread {
				places = append(places, f.StaticValue())
			}
			for i := 0; f.Thread && i < len(threads); i++ {
				places = append(places, f.ThreadStatic(&threads[i]))
			}
			for _, s := range places {
				if o, err := r.heap.ObjectContaining(s.Slot); s.Slot != 0 && err == nil {
					r.planner.kept[o.Addr] = true
				}
				if own {
					edits = append(edits, r.static(j, f, s, stored)...)
				}
			}
		}
	}
	return edits
}

// isOwnType reports whether a type is the program's own.
func isOwnType(rt *dac.Runtime, mt *dac.MethodTable) bool {
	m, err := rt.ModuleOf(mt)
	if err != nil {
		return true
	}
	name, err := m.SimpleName()
	return err != nil || !ofFramework(name)
}

// static replaces the value of a static field.
func (r *runtimeOf) static(j *job, f *objects.Field, s objects.Static, stored []memmap.Range) []edit {
	number := r.planner.numbers
	switch f.ElementType {
	case metadata.ElementBoolean, metadata.ElementPtr, metadata.ElementFnPtr, metadata.ElementValueType:
		number = false
	}
	char := f.ElementType == metadata.ElementChar
	if s.Err != nil || s.Slot == 0 || !char && !number {
		return nil
	}
	b, err := target.Bytes(r.rt.Memory(), s.Slot, int(objects.Leaf{Type: f.ElementType}.Size()))
	if err != nil || blank(b) {
		return nil
	}
	fresh := make([]byte, len(b))
	if char {
		copy(fresh, b)
		j.disguise.replace(fresh, true)
	}
	j.counts.Numbers.Add(uint64(len(b)))
	return place(stored, s.Slot, fresh)
}
