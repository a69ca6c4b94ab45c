package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/layout"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// helperObjects is how many pointers to references the classes have whose frame
// protects locals of the runtime's code (frames.h, HelperMethodFrame_1OBJ).
var helperObjects = map[string]int{"HelperMethodFrame_1OBJ": 1, "HelperMethodFrame_2OBJ": 2, "HelperMethodFrame_3OBJ": 3}

// Protected returns where the references are that f keeps for the runtime's
// native code, and whether they may point into objects, or at none. Frames of
// most classes keep none. One that keeps them in a way that the layout does not
// tell is target.ErrUnsupported.
func (r *Runtime) Protected(f *Frame) (slots []target.Addr, interior bool, err error) {
	l, err := r.frameLayout()
	if err != nil {
		return nil, false, err
	}
	switch {
	case f.Class == "GCFrame" && l.GC.References != layout.Absent:
		slots, interior, err = r.gcFrame(l, f)
	case helperObjects[f.Class] > 0 && l.HelperObjects.References != layout.Absent:
		slots, err = r.helperObjects(l, f)
	case f.Class == "HelperMethodFrame_PROTECTOBJ" || f.Class == "GCFrame" || helperObjects[f.Class] > 0:
		err = target.Unsupportedf("the layout does not tell what it protects")
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s %016x: %w", f.Class, uint64(f.Addr), err)
	}
	return slots, interior, nil
}

// gcFrame are the references of an array that a GCFrame protects: up to .NET
// Core 3.1 one of the explicit frames (GCFrame::GcScanRoots).
func (r *Runtime) gcFrame(l *frameLayout, f *Frame) ([]target.Addr, bool, error) {
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	at, n, interior := rd.Ptr(l.GC.References), rd.U32(l.GC.Count), rd.U32(l.GC.Interior)
	if rd.Err != nil {
		return nil, false, rd.Err
	}
	if n > limits.ProtectedReferences {
		return nil, false, target.Corruptf("%d references", n)
	}
	slots := make([]target.Addr, n)
	for i := range slots {
		slots[i] = at + target.Addr(i)*8
	}
	return slots, interior != 0, nil
}

// helperObjects follows the pointers to the locals that a helper's frame
// protects.
func (r *Runtime) helperObjects(l *frameLayout, f *Frame) ([]target.Addr, error) {
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	slots := make([]target.Addr, helperObjects[f.Class])
	for i := range slots {
		slots[i] = rd.Ptr(l.HelperObjects.References + 8*i)
	}
	return slots, rd.Err
}
