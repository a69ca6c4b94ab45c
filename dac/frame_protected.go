package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// helperObjects maps frame classes to their numbers of protected references (frames.h, HelperMethodFrame_1OBJ).
var helperObjects = map[string]int{"HelperMethodFrame_1OBJ": 1, "HelperMethodFrame_2OBJ": 2, "HelperMethodFrame_3OBJ": 3}

// protectsArray is the class of frames that protect an array of locals. It has a pointer to them where the others have the first of theirs, and
// then their number (frames.h, HelperMethodFrame_PROTECTOBJ).
const protectsArray = "HelperMethodFrame_PROTECTOBJ"

// Protected returns the addresses of references that f keeps for the runtime's native code, and whether they
// may point into objects or outside the heap. Most classes of frames do not keep any. It returns
// target.ErrUnsupported if the layout lacks their offset.
func (r *Runtime) Protected(f *Frame) (slots []target.Addr, interior bool, err error) {
	l, err := r.frameLayout()
	if err != nil {
		return nil, false, err
	}
	switch {
	case f.Class == "GCFrame" && l.GC.References != layout.Absent:
		slots, interior, err = r.gcFrame(l, f)
	case helperObjects[f.Class] > 0 && l.HelperObjects.References != layout.Absent:
		slots, err = r.protectedLocals(l, f)
	case f.Class == protectsArray && l.HelperObjects.References != layout.Absent:
		slots, err = r.protectedArray(l, f)
	case f.Class == "DynamicHelperFrame":
		slots, err = r.dynamicHelper(l, f)
	case f.Class == protectsArray || f.Class == "GCFrame" || helperObjects[f.Class] > 0:
		err = target.Unsupportedf("the layout lacks the references that it protects")
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s %016x: %w", f.Class, uint64(f.Addr), err)
	}
	return slots, interior, nil
}

// dynamicHelper returns the addresses of the arguments that are objects in a call of a helper from code of
// ReadyToRun images. The frame's flags mark the first and the second argument (frames.h,
// DynamicHelperFrameFlags).
func (r *Runtime) dynamicHelper(l *frameLayout, f *Frame) ([]target.Addr, error) {
	if l.DynamicHelper.Flags == layout.Absent {
		return nil, &layout.Error{Type: "DynamicHelperFrame", Field: "Flags"}
	}
	flags, err := target.Uint32(r.mem, f.Addr+target.Addr(l.DynamicHelper.Flags))
	if err != nil || flags == 0 {
		return nil, err
	}
	if flags > 3 {
		return nil, target.Corruptf("flags %#x", flags)
	}
	area, err := r.argumentArea(l, f)
	var slots []target.Addr
	for i := range 2 {
		if flags>>i&1 != 0 {
			slots = append(slots, area.Registers+target.Addr(8*i))
		}
	}
	return slots, err
}

// An ArgumentArea locates the arguments of the current call of a stub of the runtime (callingconvention.h,
// TransitionBlock).
type ArgumentArea struct {
	Registers target.Addr // the integer argument registers, in the order of ABI.Arguments
	Stack     target.Addr // first word of the arguments on the stack
}

// FrameArguments returns the arguments that f keeps for the collector until its method runs (frames.h,
// TransitionFrame::PromoteCallerStack). It returns false for frame classes that do not keep arguments.
func (r *Runtime) FrameArguments(f *Frame) (ArgumentArea, bool, error) {
	if f.Kind != FrameTransition || !keepsArguments[f.Class] {
		return ArgumentArea{}, false, nil
	}
	l, err := r.frameLayout()
	if err != nil {
		return ArgumentArea{}, true, err
	}
	a, err := r.argumentArea(l, f)
	if err != nil {
		err = fmt.Errorf("%s %016x: %w", f.Class, uint64(f.Addr), err)
	}
	return a, true, err
}

func (r *Runtime) argumentArea(l *frameLayout, f *Frame) (ArgumentArea, error) {
	block, err := r.ptr(f.Addr, l.Framed.Block, "FramedMethodFrame.TransitionBlockPtr")
	if err != nil {
		return ArgumentArea{}, err
	}
	if l.Block.Size == layout.Absent || l.Block.CalleeSaved == layout.Absent {
		return ArgumentArea{}, &layout.Error{Type: "TransitionBlock"}
	}
	a := ArgumentArea{Stack: block + target.Addr(l.Block.Size)}
	switch {
	case l.abi.ArgumentSlots:
		a.Registers = a.Stack // their home slots precede the other arguments
	case l.Block.CalleeSaved == 8*len(l.abi.Arguments):
		a.Registers = block
	case l.Block.CalleeSaved == 0 && l.abi.Link != target.NoReg: // the registers come last
		a.Registers = a.Stack - target.Addr(8*len(l.abi.Arguments))
	default:
		return a, target.Unsupportedf("where a TransitionBlock has the argument registers")
	}
	return a, nil
}

// keepsArguments contains the classes of frames with FrameArguments.
var keepsArguments = map[string]bool{"PrestubMethodFrame": true, "CallCountingHelperFrame": true, "StubDispatchFrame": true,
	"ExternalMethodFrame": true, "ComPlusMethodFrame": true, "CLRToCOMMethodFrame": true}

// unreadReferences describes the references that frame classes keep and sosgo does not read (frames.h,
// GcScanRoots).
var unreadReferences = map[string]error{
	"HijackFrame":       ErrHijacked,
	"PInvokeCalliFrame": target.Unsupportedf("reading the arguments of a call through an unmanaged function pointer"),
	"TailCallFrame":     target.Unsupportedf("reading the arguments of a tail call"),
	"InterpreterFrame":  target.Unsupportedf("reading the variables of interpreted methods"),
}

// ErrHijacked is the error of a thread that a collection stopped where a method returns: it may have a reference to what the method returned.
var ErrHijacked = target.Unsupportedf("reading what a method returned to the collection that stopped the thread there")

// UnreadReferences returns target.ErrUnsupported for a frame that may keep references which sosgo does not
// read, and nil for other frames.
func (r *Runtime) UnreadReferences(f *Frame) error {
	err := unreadReferences[f.Class]
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %016x: %w", f.Class, uint64(f.Addr), err)
}

// gcFrame returns the references protected by a GCFrame, which is an explicit frame up to .NET Core 3.1
// (GCFrame::GcScanRoots).
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

// protectedArray returns the addresses of the locals in the array that a helper's frame protects.
func (r *Runtime) protectedArray(l *frameLayout, f *Frame) ([]target.Addr, error) {
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	at, n := rd.Ptr(l.HelperObjects.References), rd.U32(l.HelperObjects.References+8)
	switch {
	case rd.Err != nil:
		return nil, rd.Err
	case n > limits.ProtectedReferences:
		return nil, target.Corruptf("%d references", n)
	case n > 0 && !canonical(at):
		return nil, target.Corruptf("its references are at %016x", uint64(at))
	}
	slots := make([]target.Addr, n)
	for i := range slots {
		slots[i] = at + 8*target.Addr(i)
	}
	return slots, nil
}

// protectedLocals follows the pointers to the locals that a helper's frame protects.
func (r *Runtime) protectedLocals(l *frameLayout, f *Frame) ([]target.Addr, error) {
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	slots := make([]target.Addr, helperObjects[f.Class])
	for i := range slots {
		slots[i] = rd.Ptr(l.HelperObjects.References + 8*i)
	}
	return slots, rd.Err
}
