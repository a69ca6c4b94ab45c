package dac

import (
	"strings"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// frameOffsets holds the offsets of explicit frames' members. If the layout lacks a frame class, its caller
// cannot be found.
type frameOffsets struct {
	Frame struct {
		Next int `layout:"Next"`
	}
	Inlined struct {
		Datum         int `layout:"Datum,optional"`
		CallSiteSP    int `layout:"CallSiteSP"`
		ReturnAddress int `layout:"CallerReturnAddress"`
		FP            int `layout:"CalleeSavedFP"`
	} `struct:"InlinedCallFrame"`
	Framed struct {
		Block      int `layout:"TransitionBlockPtr"`
		MethodDesc int `layout:"MethodDesc|MethodDescPtr,optional"`
	} `struct:"FramedMethodFrame,optional"`
	Block struct {
		Size          int `layout:"size"`
		CalleeSaved   int `layout:"CalleeSavedRegisters"`
		ReturnAddress int `layout:"ReturnAddress"`
	} `struct:"TransitionBlock,optional"`
	Helper        helperOffsets `struct:"HelperMethodFrame,optional"`
	HelperObjects struct {      // classes with more references have it at the same offset
		References int `layout:"ObjRefPtrs"`
	} `struct:"HelperMethodFrame_1OBJ,optional"`
	SoftwareException struct {
		Context int `layout:"TargetContext"`
	} `struct:"SoftwareExceptionFrame,optional"`
	Faulting struct {
		Context int `layout:"TargetContext"`
	} `struct:"FaultingExceptionFrame,optional"`
	Resumable struct {
		Context int `layout:"TargetContextPtr"`
	} `struct:"ResumableFrame,optional"`
	Hijack struct {
		ReturnAddress int `layout:"ReturnAddress"`
		Args          int `layout:"HijackArgsPtr"`
	} `struct:"HijackFrame,optional"`
	HijackArgs struct {
		Size        int `layout:"size"`
		CalleeSaved int `layout:"CalleeSavedRegisters,optional"` // on ARM64 the registers are members of HijackArgs
		RSP         int `layout:"Rsp,optional"`
	} `struct:"HijackArgs,optional"`
	FuncEval struct {
		Eval int `layout:"DebuggerEvalPtr"`
	} `struct:"FuncEvalFrame,optional"`
	GC struct {
		Next       int `layout:"Next,optional"`      // since 5 a GCFrame is not an explicit frame
		Thread     int `layout:"CurThread,optional"` // but in a chain of its thread
		References int `layout:"ObjRefsPtr|ObjRefs"`
		Count      int `layout:"NumObjRefs"`
		Interior   int `layout:"MaybeInterior|GCFlags"`
	} `struct:"GCFrame,optional"`
	Interpreter struct { // this and the next three: .NET 11
		Top      int `layout:"TopInterpMethodContextFrame"`
		Faulting int `layout:"IsFaulting,optional"`
	} `struct:"InterpreterFrame,optional"`
	Interpreted struct {
		Code   int `layout:"StartIp"`
		Parent int `layout:"ParentPtr"`
		IP     int `layout:"Ip"`
		Next   int `layout:"NextPtr"`
		Stack  int `layout:"Stack,optional"`
	} `struct:"InterpMethodContextFrame,optional"`
	InterpretedCode struct {
		Method int `layout:"Method"`
	} `struct:"InterpByteCodeStart,optional"`
	InterpretedMethod struct {
		MethodDesc int `layout:"MethodDesc"`
	} `struct:"InterpMethod,optional"`
	DynamicHelper struct {
		Flags int `layout:"Flags|DynamicHelperFrameFlags"`
	} `struct:"DynamicHelperFrame,optional"`
	ProtectValues struct {
		Values int `layout:"Values"`
	} `struct:"ProtectValueClassFrame,optional"`
	ValueClass struct {
		Next        int `layout:"Next"`
		MethodTable int `layout:"MethodTable"`
		Data        int `layout:"Data"`
	} `struct:"ValueClassInfo,optional"`
	ProtectByRefs struct { // before 10
		References int `layout:"References"`
	} `struct:"ProtectByRefsFrame,optional"`
	ByRef struct {
		Next        int `layout:"Next"`
		ElementType int `layout:"ElementType"`
		TypeHandle  int `layout:"TypeHandle"`
		Data        int `layout:"Data"`
	} `struct:"ByRefInfo,optional"`
	TailCallBuffer struct { // 5 and later
		Size   int `layout:"size"` // bytes of the header; the arguments follow
		State  int `layout:"State"`
		Bytes  int `layout:"Size"`
		GCDesc int `layout:"GCDesc"`
	} `struct:"TailCallArgBuffer,optional"`
	Eval struct {
		Context int `layout:"TargetContext"`
	} `struct:"DebuggerEval,optional"`
}

// helperOffsets holds the offsets of a HelperMethodFrame (before .NET 10). It contains the registers of the
// runtime's function (LazyMachState) and, once computed, the registers of its managed caller (MachState).
type helperOffsets struct {
	MethodDesc    int `layout:"MethodDesc"`
	Attributes    int `layout:"Attribs,optional"`
	FCall         int `layout:"FCallEntry"`
	RIP           int `layout:"MachStateRip"`
	RSP           int `layout:"MachStateRsp"`
	Capture       int `layout:"MachStateCapture"`
	Pointers      int `layout:"MachStatePtrs"`
	ReturnAddress int `layout:"MachStateRetAddrPtr,optional"`
	Valid         int `layout:"MachStateIsValid,optional"` // an int, on processors without the pointer to the return address
	Unwound       int `layout:"MachStateUnwound,optional"`
	CaptureRIP    int `layout:"CaptureRip"`
	CaptureRSP    int `layout:"CaptureRsp"`
}

// computed reports whether the registers of the managed caller are computed.
func (o *helperOffsets) computed(rd *layout.Reader) bool {
	switch {
	case o.Valid != layout.Absent:
		return rd.U32(o.Valid) != 0
	case o.ReturnAddress == layout.Absent:
		rd.Err = &layout.Error{Type: "MachState"}
		return false
	}
	return rd.U64(o.ReturnAddress) != 0
}

// A savedRegister is the offset of a register in a structure.
type savedRegister struct {
	reg    target.Reg
	offset int
}

// A frameLayout holds the offsets, classes and registers needed to read explicit frames.
type frameLayout struct {
	frameOffsets
	classes  map[uint64]string // first word of a frame -> class
	unplaced error             // why the vtable of a class is unknown, nil if all are known
	saved    []savedRegister   // in CalleeSavedRegisters
	state    []savedRegister   // in each array of a MachState
	hijacked []savedRegister   // in HijackArgs
	abi      *target.ABI
	fcalls   target.Addr // table of FCalls, 0 if unknown
}

const frameIdentifier = "FrameIdentifier"

func (r *Runtime) frameLayout() (*frameLayout, error) {
	return r.frames.Get(func() (*frameLayout, error) {
		abi, err := r.Target().Platform().ABI()
		if err != nil {
			return nil, err
		}
		f := &frameLayout{classes: map[uint64]string{}, abi: abi}
		if err := r.layout.BindAll(&f.frameOffsets); err != nil {
			return nil, err
		}
		// 10 tags frames with small numbers from its descriptor. Before, a frame's first word is its vtable.
		r.layout.Globals(func(name string, g layout.Global) bool {
			if class, ok := strings.CutSuffix(name, frameIdentifier); ok && g.Direct {
				f.classes[g.Value] = class + "Frame"
			}
			return true
		})
		r.layout.VTables(func(class string, a target.Addr) bool {
			if frameKinds[class] != FrameUnknown || strings.Contains(class, "Frame") {
				f.classes[uint64(a)] = class
			}
			return true
		})
		f.unplaced = r.unplacedFrames()
		if a, err := r.layout.Variable("FCallMethods"); err == nil {
			f.fcalls = a
		}
		f.saved = r.registersOf("CalleeSavedRegisters", abi)
		if f.state = r.registersOf("MachState", abi); f.state == nil {
			f.state = f.saved
		}
		f.hijacked = r.registersOf("HijackArgs", abi)
		return f, nil
	})
}

// registersOf returns the registers that are members of a structure. The descriptor names such members after
// them: Rbx, Fp, X19.
func (r *Runtime) registersOf(structure string, abi *target.ABI) []savedRegister {
	var out []savedRegister
	for reg := range abi.General.All {
		name := target.RegName(abi.Arch, reg)
		if off, err := r.layout.Offset(structure, strings.ToUpper(name[:1])+name[1:]); err == nil {
			out = append(out, savedRegister{reg, off})
		}
	}
	return out
}

// unplacedFrames returns why the class of some frames is unknown, or nil if all classes are known.
func (r *Runtime) unplacedFrames() error {
	if r.places == nil {
		return nil
	}
	for _, slot := range r.places.slots {
		if slot.VTable && frameKinds[slot.Name] != FrameUnknown {
			if _, err := r.layout.VTable(slot.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
