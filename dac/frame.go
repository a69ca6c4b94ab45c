package dac

import (
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A FrameKind is the way in which an explicit frame records its caller.
type FrameKind uint8

// The kinds.
const (
	FrameUnknown           FrameKind = iota // the class is not in the layout
	FramePlain                              // a marker without a caller
	FrameInlinedCall                        // a call into unmanaged code, inside a managed frame
	FrameTransition                         // a call from managed code through a stub of the runtime
	FrameHelper                             // a call from managed code into the runtime; before 10
	FrameSoftwareException                  // a throw
	FrameFault                              // an instruction that faulted
	FrameRedirected                         // the runtime stopped the thread
	FrameHijack                             // the runtime replaced a return address
	FrameFuncEval                           // a debugger's call
	FrameInterpreter                        // interpreted methods; see Interpreted
)

// frameKinds maps the classes of frames.h to their kinds.
var frameKinds = map[string]FrameKind{
	"InlinedCallFrame":              FrameInlinedCall,
	"HelperMethodFrame":             FrameHelper,
	"HelperMethodFrame_1OBJ":        FrameHelper,
	"HelperMethodFrame_2OBJ":        FrameHelper,
	"HelperMethodFrame_3OBJ":        FrameHelper,
	"HelperMethodFrame_PROTECTOBJ":  FrameHelper,
	"PrestubMethodFrame":            FrameTransition,
	"CallCountingHelperFrame":       FrameTransition,
	"StubDispatchFrame":             FrameTransition,
	"ExternalMethodFrame":           FrameTransition,
	"DynamicHelperFrame":            FrameTransition,
	"PInvokeCalliFrame":             FrameTransition,
	"MulticastFrame":                FrameTransition,
	"SecureDelegateFrame":           FrameTransition,
	"StubHelperFrame":               FrameTransition,
	"ComPlusMethodFrame":            FrameTransition,
	"CLRToCOMMethodFrame":           FrameTransition,
	"SoftwareExceptionFrame":        FrameSoftwareException,
	"FaultingExceptionFrame":        FrameFault,
	"ResumableFrame":                FrameRedirected,
	"RedirectedThreadFrame":         FrameRedirected,
	"HijackFrame":                   FrameHijack,
	"FuncEvalFrame":                 FrameFuncEval,
	"InterpreterFrame":              FrameInterpreter,
	"DebuggerClassInitMarkFrame":    FramePlain,
	"DebuggerSecurityCodeMarkFrame": FramePlain,
	"DebuggerExitFrame":             FramePlain,
	"DebuggerU2MCatchHandlerFrame":  FramePlain,
	"ProtectByRefsFrame":            FramePlain,
	"ProtectValueClassFrame":        FramePlain,
	"ExceptionFilterFrame":          FramePlain,
	"ContextTransitionFrame":        FramePlain,
	"ComMethodFrame":                FramePlain,
	"ComPrestubMethodFrame":         FramePlain,
	"GCFrame":                       FramePlain,
	"TailCallFrame":                 FramePlain,
}

// A Frame is an explicit frame: a structure that the runtime puts on a thread's stack when managed code enters
// the runtime or unmanaged code (frames.h, class Frame). Verified on 3.1, 6, 8, 9 and 10.
type Frame struct {
	Addr  target.Addr
	Next  target.Addr // the frame below; 0 for the last
	Class string      // as SOS prints it
	Kind  FrameKind
	// Interpreted is the method of a copy of a FrameInterpreter; zero for other frames.
	Interpreted InterpretedMethod
}

// CallsUnmanaged reports whether f marks a call from managed to unmanaged code outside the runtime.
func (f *Frame) CallsUnmanaged() bool {
	switch f.Class {
	case "PInvokeCalliFrame", "ComPlusMethodFrame", "CLRToCOMMethodFrame":
		return true
	}
	return f.Kind == FrameInlinedCall
}

// topFrame ends a chain of frames (frames.h, FRAME_TOP).
const topFrame = ^target.Addr(0)

// Frame reads the explicit frame at a.
func (r *Runtime) Frame(a target.Addr) (Frame, error) {
	l, err := r.frameLayout()
	if err != nil {
		return Frame{}, err
	}
	rd := layout.Reader{Mem: r.mem, Base: a}
	id, next := rd.U64(0), rd.Ptr(l.Frame.Next)
	if rd.Err != nil {
		return Frame{}, fmt.Errorf("Frame %016x: %w", uint64(a), rd.Err)
	}
	f := Frame{Addr: a, Next: next, Class: l.classes[id]}
	switch {
	case f.Class == "" && l.unplaced != nil:
		return f, fmt.Errorf("Frame %016x: its class is unknown: %w", uint64(a), l.unplaced)
	case f.Class == "":
		return f, target.Corruptf("Frame %016x: its first word %#x is of no class", uint64(a), id)
	}
	if f.Kind = frameKinds[f.Class]; f.Kind == FrameUnknown {
		f.Kind = FramePlain // a new class that the descriptor names
	}
	switch next {
	case topFrame:
		f.Next = 0
	case 0:
		return f, target.Corruptf("Frame %016x: there is no next frame, and the chain does not end", uint64(a))
	}
	return f, nil
}

// NextFrame returns the address of the explicit frame after f, or 0 for the last frame. It is further down f's stack.
// Frames on another stack, such as the one for handling overflows, precede the frames on the thread's own stack.
func (t *Thread) NextFrame(f *Frame) (target.Addr, error) {
	if f.Next == 0 || f.Next > f.Addr || t.Stack.Contains(f.Next) && !t.Stack.Contains(f.Addr) {
		return f.Next, nil
	}
	return 0, target.Corruptf("Frame %016x: the next one is at %016x, not below it on the stack", uint64(f.Addr), uint64(f.Next))
}

// signalStack bounds the size in bytes of the stack for handling signals. It contains explicit frames while the
// runtime handles a stack overflow.
const signalStack = 1 << 20

// SignalStack returns the stack that t runs on with its stack pointer at sp. It is empty for the thread's own
// stack.
func (t *Thread) SignalStack(sp target.Addr) target.Range {
	if t.Stack.Contains(sp) {
		return target.Range{}
	}
	return target.RangeAt(sp, uint64(signalStack))
}

// Newer reports whether the stack address a belongs to a newer call than b. Calls on a stack for signals are
// newer than all calls on t's own stack.
func (t *Thread) Newer(a, b target.Addr) bool {
	if t != nil && t.Stack.Size() > 0 && t.Stack.Contains(a) != t.Stack.Contains(b) {
		return t.Stack.Contains(b)
	}
	return a < b
}

// signalStackOf returns the SignalStack of t, by its stack pointer in the dump.
func (r *Runtime) signalStackOf(t *Thread) target.Range {
	for _, os := range r.Target().Threads() {
		if sp, ok := os.Registers.SP(); ok && os.ID == t.OSID {
			return t.SignalStack(sp)
		}
	}
	return target.Range{}
}

// Frames iterates over the explicit frames of t from the topmost on, which may be on the stack for signals. It
// ends with an error at an unreadable frame.
func (r *Runtime) Frames(t *Thread) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		if t == nil {
			yield(Frame{}, errNoThread)
			return
		}
		at := t.Frame
		for range limits.FrameChain {
			if at == 0 || at == topFrame {
				return
			}
			if t.Stack.Size() > 0 && !t.Stack.Contains(at) && !r.signalStackOf(t).Contains(at) {
				yield(Frame{}, target.Corruptf("Frame %016x is outside the stack of thread %d", uint64(at), t.ManagedID))
				return
			}
			f, err := r.Frame(at)
			if err == nil {
				at, err = t.NextFrame(&f)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
		yield(Frame{}, target.Corruptf("thread %d has more than %d frames", t.ManagedID, limits.FrameChain))
	}
}

// A FrameCaller describes the registers that Runtime.FrameCaller found.
type FrameCaller uint8

const (
	// CallerNone means that the frame does not record a caller; the next one may.
	CallerNone FrameCaller = iota
	// CallerReturn means that the registers are the managed caller's at its return address.
	CallerReturn
	// CallerInterrupted means that the registers belong to managed code, at the instruction where it was stopped.
	CallerInterrupted
	// CallerNative means that the registers belong to code of the runtime. Unwinding it leads to the managed
	// caller (LazyMachState).
	CallerNative
)

// FrameCaller sets regs to the registers of f's caller. Registers that f does not record become unknown: their
// values belong to later code.
func (r *Runtime) FrameCaller(f *Frame, regs *target.Registers) (FrameCaller, error) {
	l, err := r.frameLayout()
	if err != nil {
		return CallerNone, err
	}
	out := target.Registers{Arch: r.Target().Platform().Arch, Signature: regs.Signature}
	how, err := r.frameCaller(l, f, &out)
	if err != nil {
		return CallerNone, fmt.Errorf("%s %016x: %w", f.Class, uint64(f.Addr), err)
	}
	if how != CallerNone {
		*regs = out
	}
	return how, nil
}

func (r *Runtime) frameCaller(l *frameLayout, f *Frame, regs *target.Registers) (FrameCaller, error) {
	switch f.Kind {
	case FrameInlinedCall:
		return r.inlinedCaller(l, f, regs)
	case FrameTransition, FrameInterpreter: // an InterpreterFrame is a FramedMethodFrame
		return r.transitionCaller(l, f, regs)
	case FrameHelper:
		return r.helperCaller(l, f, regs)
	case FrameSoftwareException:
		return CallerReturn, r.contextAt(l, f.Addr, l.SoftwareException.Context, false, regs)
	case FrameFault:
		return CallerInterrupted, r.contextAt(l, f.Addr, l.Faulting.Context, true, regs)
	case FrameRedirected:
		ctx, err := r.ptr(f.Addr, l.Resumable.Context, "ResumableFrame.TargetContextPtr")
		if err != nil {
			return CallerNone, err
		}
		return CallerInterrupted, r.contextAt(l, ctx, 0, true, regs)
	case FrameHijack:
		return r.hijackCaller(l, f, regs)
	case FrameFuncEval:
		eval, err := r.ptr(f.Addr, l.FuncEval.Eval, "FuncEvalFrame.DebuggerEvalPtr")
		if err != nil {
			return CallerNone, err
		}
		return CallerReturn, r.contextAt(l, eval, l.Eval.Context, false, regs)
	}
	return CallerNone, nil
}

// frameThrows is the attribute of a HelperMethodFrame for a function that throws (frames.h,
// FRAME_ATTR_EXCEPTION).
const frameThrows = 1

// FrameThrows reports whether f marks a throw: the frame of a throw or, before .NET 10, of the runtime's helper
// for throwing. It returns false if the layout lacks the attribute.
func (r *Runtime) FrameThrows(f *Frame) (bool, error) {
	switch f.Kind {
	case FrameSoftwareException, FrameFault:
		return true, nil
	case FrameHelper:
		l, err := r.frameLayout()
		if err != nil || l.Helper.Attributes == layout.Absent {
			return false, err
		}
		attributes, err := target.Uint32(r.mem, f.Addr+target.Addr(l.Helper.Attributes))
		return attributes&frameThrows != 0, err
	}
	return false, nil
}

// inlinedCaller returns the method that contains the frame, while a call is active.
func (r *Runtime) inlinedCaller(l *frameLayout, f *Frame, regs *target.Registers) (FrameCaller, error) {
	o := &l.Inlined
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	ip, sp, fp := rd.U64(o.ReturnAddress), rd.U64(o.CallSiteSP), rd.U64(o.FP)
	if rd.Err != nil || ip == 0 {
		return CallerNone, rd.Err
	}
	l.setRegs(regs, ip, sp)
	regs.Set(l.abi.FP, fp)
	return CallerReturn, nil
}

// transitionCaller reads the registers that the stub saved in a TransitionBlock before the caller's arguments.
func (r *Runtime) transitionCaller(l *frameLayout, f *Frame, regs *target.Registers) (FrameCaller, error) {
	block, err := r.ptr(f.Addr, l.Framed.Block, "FramedMethodFrame.TransitionBlockPtr")
	if err != nil {
		return CallerNone, err
	}
	rd := layout.Reader{Mem: r.mem, Base: block}
	ip := rd.U64(l.Block.ReturnAddress)
	if rd.Err != nil || ip == 0 {
		return CallerNone, rd.Err
	}
	l.setRegs(regs, ip, uint64(block)+uint64(l.Block.Size))
	return CallerReturn, r.savedRegisters(l, block, l.Block.CalleeSaved, regs)
}

// helperCaller returns the registers of the managed caller once they are computed (MachState), otherwise the
// registers that the runtime's function captured for computing them.
func (r *Runtime) helperCaller(l *frameLayout, f *Frame, regs *target.Registers) (FrameCaller, error) {
	o := &l.Helper
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	if o.computed(&rd) {
		l.setRegs(regs, rd.U64(o.RIP), rd.U64(o.RSP))
		if rd.Err != nil {
			return CallerNone, rd.Err
		}
		if o.Unwound != layout.Absent {
			return CallerReturn, r.readRegisters(l.state, f.Addr, o.Unwound, regs)
		}
		return CallerReturn, r.savedPointers(l, f.Addr, o.Pointers, regs)
	}
	// CaptureRsp belongs to the capturing function, with its return address on top (LazyMachStateCaptureState).
	ip, sp := rd.U64(o.CaptureRIP), rd.U64(o.CaptureRSP)
	if rd.Err != nil {
		return CallerNone, rd.Err
	}
	if ip == 0 {
		return CallerNone, nil
	}
	l.setRegs(regs, ip, sp+uint64(l.abi.ReturnAddressSize))
	return CallerNative, r.readRegisters(l.state, f.Addr, o.Capture, regs)
}

// hijackCaller returns the registers saved by the stub that replaced the return address.
func (r *Runtime) hijackCaller(l *frameLayout, f *Frame, regs *target.Registers) (FrameCaller, error) {
	args, err := r.ptr(f.Addr, l.Hijack.Args, "HijackFrame.HijackArgsPtr")
	if err != nil {
		return CallerNone, err
	}
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	ip := rd.U64(l.Hijack.ReturnAddress)
	if rd.Err != nil {
		return CallerNone, rd.Err
	}
	sp := uint64(args) + uint64(max(l.HijackArgs.Size, 0))
	if l.HijackArgs.RSP != layout.Absent {
		v, err := target.Uint64(r.mem, args+target.Addr(l.HijackArgs.RSP))
		if err != nil {
			return CallerNone, err
		}
		sp = v
	}
	l.setRegs(regs, ip, sp)
	if l.HijackArgs.CalleeSaved == layout.Absent {
		return CallerReturn, r.readRegisters(l.hijacked, args, 0, regs)
	}
	return CallerReturn, r.savedRegisters(l, args, l.HijackArgs.CalleeSaved, regs)
}

func (l *frameLayout) setRegs(regs *target.Registers, ip, sp uint64) {
	regs.SetIP(regs.Code(ip))
	regs.Set(l.abi.SP, sp)
}

// savedRegisters reads the CalleeSavedRegisters at offset off from a.
func (r *Runtime) savedRegisters(l *frameLayout, a target.Addr, off int, regs *target.Registers) error {
	if off == layout.Absent {
		return &layout.Error{Type: "CalleeSavedRegisters"}
	}
	return r.readRegisters(l.saved, a, off, regs)
}

// readRegisters reads the registers of a structure at offset off from a.
func (r *Runtime) readRegisters(members []savedRegister, a target.Addr, off int, regs *target.Registers) error {
	if len(members) == 0 {
		return &layout.Error{Type: "CalleeSavedRegisters"}
	}
	rd := layout.Reader{Mem: r.mem, Base: a}
	for _, m := range members {
		regs.Set(m.reg, rd.U64(off+m.offset))
	}
	return rd.Err
}

// savedPointers reads the pointers of a MachState: the address where each register was saved, 0 if it was not
// saved.
func (r *Runtime) savedPointers(l *frameLayout, a target.Addr, off int, regs *target.Registers) error {
	rd := layout.Reader{Mem: r.mem, Base: a}
	for _, m := range l.state {
		p := rd.Ptr(off + m.offset)
		if rd.Err != nil {
			return rd.Err
		}
		if p == 0 {
			continue
		}
		v, err := target.Uint64(r.mem, p)
		if err != nil {
			return err
		}
		regs.Set(m.reg, v)
	}
	return nil
}

// contextAt reads the CONTEXT at offset off from a. If the code was not stopped but made a call, only the
// registers that calls preserve are valid.
func (r *Runtime) contextAt(l *frameLayout, a target.Addr, off int, stopped bool, regs *target.Registers) error {
	if off == layout.Absent {
		return &layout.Error{Type: "a context"}
	}
	rd := layout.Reader{Mem: r.mem, Base: a + target.Addr(off)}
	for _, m := range l.abi.Context.Registers {
		if m.Size != 8 {
			continue // flags and segments
		}
		v := rd.U64(m.Offset)
		if m.Reg == l.abi.IP {
			v = uint64(regs.Code(v))
		}
		if stopped || m.Reg == l.abi.SP || m.Reg == l.abi.IP || l.abi.Preserves(m.Reg) {
			regs.Set(m.Reg, v)
		}
	}
	return rd.Err
}

// FrameMethod returns the address of f's MethodDesc, or 0.
func (r *Runtime) FrameMethod(f *Frame) (target.Addr, error) {
	l, err := r.frameLayout()
	if err != nil {
		return 0, err
	}
	switch f.Kind {
	case FrameInlinedCall:
		return r.inlinedMethod(l, f)
	case FrameTransition:
		if l.Framed.MethodDesc == layout.Absent {
			return 0, nil
		}
		return target.Pointer(r.mem, f.Addr+target.Addr(l.Framed.MethodDesc))
	case FrameHelper:
		return r.helperMethod(l, f)
	}
	return f.Interpreted.MethodDesc, nil
}

// inlinedMethod returns the MethodDesc of the P/Invoke, or 0. The datum may also be a tagged or small number
// (frames.h, InlinedCallFrame::HasFunction). Calls that handle exceptions set bits that are zero in an address
// of 8 bytes (InlinedCallFrameMarker).
func (r *Runtime) inlinedMethod(l *frameLayout, f *Frame) (target.Addr, error) {
	if l.Inlined.Datum == layout.Absent {
		return 0, nil
	}
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	active, datum := rd.U64(l.Inlined.ReturnAddress), rd.Ptr(l.Inlined.Datum)
	if rd.Err != nil || active == 0 || datum&1 != 0 || datum&^0xffff == 0 {
		return 0, rd.Err
	}
	return datum &^ 7, nil
}

const (
	// fcallBuckets is the size of the runtime's table of FCalls by address (ecall.cpp, FCALL_HASH_SIZE).
	fcallBuckets = 127
	maxFCalls    = 10_000
)

// helperMethod finds the method by the address of its function in the runtime's table of FCalls (ecall.cpp,
// ECall::MapTargetBackToMethod; ECHash is {next, function, MethodDesc}). The frame's own word is a cache,
// filled together with the registers.
func (r *Runtime) helperMethod(l *frameLayout, f *Frame) (target.Addr, error) {
	o := &l.Helper
	rd := layout.Reader{Mem: r.mem, Base: f.Addr}
	computed, md, fn := o.computed(&rd), rd.Ptr(o.MethodDesc), rd.Ptr(o.FCall)
	if rd.Err != nil {
		return 0, rd.Err
	}
	if computed {
		return md, nil
	}
	if fn == 0 || l.fcalls == 0 {
		return 0, nil
	}
	at, err := target.Pointer(r.mem, l.fcalls+8*(fn%fcallBuckets))
	for range maxFCalls {
		if err != nil || at == 0 {
			return 0, err
		}
		e := layout.Reader{Mem: r.mem, Base: at}
		next, entry, method := e.Ptr(0), e.Ptr(8), e.Ptr(16)
		if e.Err == nil && entry == fn {
			return method, nil
		}
		at, err = next, e.Err
	}
	return 0, target.Corruptf("the table of FCalls at %016x does not end", uint64(l.fcalls))
}
