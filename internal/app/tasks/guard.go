package tasks

import (
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// Bounds of the search for the semaphore of a guard.
const (
	guardDepth   = 3
	guardObjects = 64
)

// semaphoreClass is the class of semaphores.
const semaphoreClass = "System.Threading.SemaphoreSlim"

// SemaphoresIn returns the semaphores to which a field of a suspended method's state machine leads through the fewest fields of the program's objects, as a
// guard that is kept there leads to the semaphore of its key. It finds nothing if the field is empty, or if something on the way can't be read.
func (r *Reader) SemaphoresIn(method target.Addr, field string) []target.Addr {
	k, err := r.kindOf(method)
	if err != nil || !k.async() {
		return nil
	}
	x, m, err := r.machineOf(k, method)
	if err != nil {
		return nil
	}
	f := instanceField(m.typ, field)
	if f == nil {
		return nil
	}
	return r.nearest([]objects.Value{f.At(target.Addr(x))})
}

// SemaphoresOf is SemaphoresIn for what the fields of an object lead to.
func (r *Reader) SemaphoresOf(object target.Addr) []target.Addr {
	o, err := r.r.TrustedObject(object)
	if err != nil {
		return nil
	}
	return r.nearest(r.parts(o))
}

// nearest returns the semaphores to which values lead, the nearest ones.
func (r *Reader) nearest(level []objects.Value) (out []target.Addr) {
	seen := map[target.Addr]bool{}
	for range guardDepth {
		var next []objects.Value
		for len(level) > 0 {
			v := level[0]
			level = level[1:]
			if v.Err() != nil {
				return nil
			}
			if s, err := v.Struct(); v.Kind() != objects.KindReference && err == nil && programType(s.Type) {
				list, err := s.Type.Fields()
				if err != nil {
					return nil
				}
				for _, f := range list {
					if !f.Static {
						level = append(level, f.At(s.Addr))
					}
				}
				continue
			}
			if v.Kind() != objects.KindReference {
				continue
			}
			o, err := v.Object()
			if err != nil {
				return nil
			}
			if o.Addr == 0 || seen[o.Addr] || len(seen) == guardObjects {
				continue
			}
			seen[o.Addr] = true
			if name, err := o.Type.ManagedName(); err == nil && name == semaphoreClass {
				out = append(out, o.Addr)
			} else if programType(o.Type) {
				next = append(next, r.parts(o)...)
			}
		}
		if len(out) > 0 {
			slices.Sort(out)
			return out
		}
		level = next
	}
	return nil
}

// parts returns the values of an object's fields.
func (r *Reader) parts(o objects.Object) (out []objects.Value) {
	list, err := o.Type.Fields()
	if err != nil || o.Type.MT.IsArray() {
		return nil
	}
	for _, f := range list {
		if !f.Static {
			out = append(out, o.Value(f))
		}
	}
	return out
}

// programType reports whether a type is the program's, and not a library's.
func programType(t *objects.Type) bool {
	name, err := t.ManagedName()
	return err == nil && !answer.LibraryMethod(name+".")
}
