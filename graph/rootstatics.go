package graph

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A RootStatic is the slot of a static field that refers to an object: a field of a reference type, or of a struct type,
// which has boxed values.
type RootStatic struct {
	Field        *objects.Field    // Field.Declaring is its class
	Thread       *stackwalk.Thread // thread of a thread static, nil for other fields
	Slot, Object target.Addr       // place of the reference, and its target, which is not null
	// Table is the object that contains the slot, an object[] kept alive by a root. It is 0 for a slot outside of
	// the heap.
	Table target.Addr
	Ready bool // false before the class constructor has finished
}

// Name returns the name of the field, "Contoso.Cache.s_items".
func (s *RootStatic) Name() (string, error) {
	if s.Field == nil || s.Field.Declaring == nil {
		return "", target.Unsupportedf("no field")
	}
	class, err := s.Field.Declaring.ManagedName()
	if err == nil {
		err = s.Field.Err()
	}
	if err != nil {
		return "", err
	}
	return class + "." + s.Field.Name, nil
}

// Statics iterates over the static fields of all loaded types that refer to objects. A thread static occurs once for
// each thread that has a value. An unreadable part is an error, and the iteration continues. An error of ctx ends it.
func (r *RootReader) Statics(ctx context.Context) iter.Seq2[RootStatic, error] {
	return func(yield func(RootStatic, error) bool) {
		ctx, s := ctx, staticsScan{r: r, yield: yield}
		if err := r.rt.Check(dac.FeatureStatics); err != nil {
			s.emit(RootStatic{}, err)
			return
		}
		for mt, err := range r.rt.LoadedTypes() {
			switch {
			case ctx.Err() != nil:
				s.emit(RootStatic{}, ctx.Err())
				return
			case err != nil:
				s.emit(RootStatic{}, err)
			case !mt.IsArray() && !mt.IsOpen() && !mt.IsShared():
				s.yieldType(mt)
			}
			if s.ended {
				return
			}
		}
	}
}

// A staticsScan is one iteration over statics.
type staticsScan struct {
	r       *RootReader
	yield   func(RootStatic, error) bool
	threads []stackwalk.Thread // read at the first thread static
	known   bool
	table   target.Range // range of the object with the last slot
	ended   bool
}

func (s *staticsScan) emit(f RootStatic, err error) { s.ended = s.ended || !s.yield(f, err) }

// yieldType yields the statics of one type.
func (s *staticsScan) yieldType(mt *dac.MethodTable) {
	class, err := s.r.rt.EEClass(mt)
	if err != nil {
		s.emit(RootStatic{}, err)
		return
	}
	if class.NumStaticFields == 0 {
		return
	}
	t, err := s.r.objects.TrustedType(mt.Addr)
	if err != nil {
		s.emit(RootStatic{}, err)
		return
	}
	fields, err := t.OwnFields()
	if err != nil {
		s.emit(RootStatic{}, err)
	}
	for _, f := range fields {
		switch {
		case s.ended || !f.Static || f.RVA || !f.RefersToObject():
		case f.Thread:
			s.yieldPerThread(mt, f)
		default:
			at, err := s.r.rt.StaticField(mt, &f.FieldDesc)
			s.yieldSlot(RootStatic{Field: f}, at, err)
		}
	}
}

// yieldPerThread yields the threads' values of a thread static.
func (s *staticsScan) yieldPerThread(mt *dac.MethodTable, f *objects.Field) {
	if !s.known {
		var err error
		if s.threads, err = s.r.threads(); err != nil {
			s.emit(RootStatic{}, err)
		}
		s.known = true
	}
	for i := range s.threads {
		if t := &s.threads[i]; t.Managed != nil {
			at, err := s.r.rt.ThreadStaticField(mt, &f.FieldDesc, t.Managed)
			s.yieldSlot(RootStatic{Field: f, Thread: t}, at, err)
		}
	}
}

// yieldSlot yields a static if its storage refers to an object.
func (s *staticsScan) yieldSlot(f RootStatic, at dac.StaticAddr, err error) {
	if err == nil && at.Addr == 0 || s.ended {
		return
	}
	f.Slot, f.Ready = at.Addr, at.State == dac.StaticReady
	if err == nil {
		f.Object, err = target.Pointer(s.r.rt.Memory(), f.Slot)
		if err != nil && f.Thread != nil && s.r.h.Segment(f.Slot) == nil && len(s.r.h.Lost()) == 0 { // arrays of the heap have the thread statics that are references
			err = target.CorruptHeapf("the thread statics of thread %d lead to %#x, outside of the heap", f.Thread.Managed.ManagedID, uint64(f.Slot))
		}
	}
	if err == nil {
		if f.Object == 0 {
			return
		}
		f.Table = s.container(f.Slot)
	}
	s.emit(f, err)
}

// container returns the object that contains a slot, or 0. The statics of a type are contiguous.
func (s *staticsScan) container(slot target.Addr) target.Addr {
	if s.table.Contains(slot) {
		return s.table.Start
	}
	if s.r.h.Segment(slot) == nil {
		return 0
	}
	o, err := s.r.h.ObjectContaining(slot)
	if err != nil || o.Free {
		return 0
	}
	s.table = target.RangeAt(o.Addr, o.Size)
	return o.Addr
}
