package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// A ProtectedValue is stack memory that an explicit frame keeps for the collector: a struct with references, or
// a reference.
type ProtectedValue struct {
	Type target.Addr // MethodTable of the struct, 0 for a reference
	Data target.Addr
}

// ProtectedValues returns the structs and references that f keeps: the runtime's copies of arguments and
// results (frames.h, ProtectValueClassFrame, ProtectByRefsFrame). Frames of other classes do not keep any. Each
// value is proved: the memory is in the stack of t, and its type is a MethodTable. It returns the values found
// together with an error.
func (r *Runtime) ProtectedValues(f *Frame, t *Thread) ([]ProtectedValue, error) {
	read := r.valueClasses
	switch f.Class {
	case "ProtectValueClassFrame":
	case "ProtectByRefsFrame":
		read = r.byRefs
	default:
		return nil, nil
	}
	l, err := r.frameLayout()
	if err != nil {
		return nil, err
	}
	out, err := read(l, f, t)
	if err != nil {
		err = fmt.Errorf("%s %016x: %w", f.Class, uint64(f.Addr), err)
	}
	return out, err
}

// valueClasses reads the list of a ProtectValueClassFrame.
func (r *Runtime) valueClasses(l *frameLayout, f *Frame, t *Thread) ([]ProtectedValue, error) {
	if l.ProtectValues.Values == layout.Absent || l.ValueClass.Next == layout.Absent {
		return nil, &layout.Error{Type: "ProtectValueClassFrame", Field: "Values"}
	}
	return r.protectedList(t, f.Addr+target.Addr(l.ProtectValues.Values), l.ValueClass.Next, func(at target.Addr) (ProtectedValue, bool, error) {
		rd := layout.Reader{Mem: r.mem, Base: at}
		v := ProtectedValue{Type: rd.Ptr(l.ValueClass.MethodTable), Data: rd.Ptr(l.ValueClass.Data)}
		return v, true, rd.Err
	})
}

// byRefs reads the list of a ProtectByRefsFrame.
func (r *Runtime) byRefs(l *frameLayout, f *Frame, t *Thread) ([]ProtectedValue, error) {
	if l.ProtectByRefs.References == layout.Absent || l.ByRef.Next == layout.Absent {
		return nil, &layout.Error{Type: "ProtectByRefsFrame", Field: "References"}
	}
	return r.protectedList(t, f.Addr+target.Addr(l.ProtectByRefs.References), l.ByRef.Next, func(at target.Addr) (ProtectedValue, bool, error) {
		rd := layout.Reader{Mem: r.mem, Base: at}
		et, th := metadata.ElementType(rd.U32(l.ByRef.ElementType)), rd.Ptr(l.ByRef.TypeHandle)
		v := ProtectedValue{Data: at + target.Addr(l.ByRef.Data)}
		switch {
		case rd.Err != nil:
			return v, false, rd.Err
		case et >= metadata.ElementBoolean && et <= metadata.ElementR8 || et == metadata.ElementI || et == metadata.ElementU:
			return v, false, nil
		case et == metadata.ElementValueType:
			v.Type = th
		}
		return v, true, nil
	})
}

// protectedList reads a list that starts with the pointer at first. Its items and their memory must be in the
// stack of t.
func (r *Runtime) protectedList(t *Thread, first target.Addr, next int, read func(target.Addr) (ProtectedValue, bool, error)) ([]ProtectedValue, error) {
	var out []ProtectedValue
	var round cycle
	at, err := target.Pointer(r.mem, first)
	for n := 0; err == nil && at != 0; n++ {
		if n == limits.ProtectedReferences || round.closes(at) {
			return out, target.Corruptf("the list of protected values has no end")
		}
		if at%8 != 0 || !t.Stack.Contains(at) {
			return out, target.Corruptf("a protected value is listed at %#x, outside the stack", uint64(at))
		}
		v, keeps, err := read(at)
		if err == nil && keeps {
			err = r.proveValue(&v, t)
		}
		if err != nil {
			return out, err
		}
		if keeps {
			out = append(out, v)
		}
		if at, err = target.Pointer(r.mem, at+target.Addr(next)); err != nil {
			return out, err
		}
	}
	return out, err
}

// proveValue checks that v is in the stack of t and that its type is a struct.
func (r *Runtime) proveValue(v *ProtectedValue, t *Thread) error {
	if v.Data%8 != 0 || !t.Stack.Contains(v.Data) {
		return target.Corruptf("a protected value is at %#x, outside the stack", uint64(v.Data))
	}
	if v.Type == 0 {
		return nil
	}
	mt, err := r.TrustedMethodTable(v.Type)
	if err == nil && !mt.IsValueType() {
		err = target.Corruptf("%#x is not a struct type", uint64(v.Type))
	}
	return err
}
