package stackwalk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Root is a register or a stack word that holds a reference, as the garbage collector sees it.
type Root struct {
	// Frame is the index of the frame in Walk, without native activations; 0 is the leaf. It is -1 outside of
	// frames.
	Frame int
	// FrameIP and FrameSP identify the frame that holds the reference.
	FrameIP, FrameSP target.Addr
	Method           *dac.MethodDesc
	// Explicit is the class of the explicit frame that holds the reference, empty for an activation. Such a
	// reference has no Slot, and has a Method only if it is an argument of a call.
	Explicit string
	// Chained is set if Explicit is in the thread's own chain of GCFrames (.NET 5 and later), which Walk does not
	// yield. FrameSP is its address, and FrameIP is 0.
	Chained bool

	Slot dac.GCSlot
	Addr target.Addr // of the word, 0 for a register
	// Object is the content of the word or register: null, the address of an object, or any address if Interior is
	// set.
	Object   target.Addr
	Interior bool // may point into an object, or to none
	Pinned   bool // keeps the object where it is

	// Undecoded is set, with an error, if some or all references of the frame are unknown.
	Undecoded bool
}

// Roots iterates over the references that the frames of t hold at the thread's current position, the leaf first. The
// references that the runtime's own code protects follow (dac.Runtime.GCFrames), and then the arguments of a tail call
// that the thread is about to make. An explicit frame holds references for native code, or the arguments of a call
// through a stub. Frames that an exception has abandoned hold no references. A method with a running funclet is
// reported through the funclet.
//
// Roots omits references that only a conservative collection sees (DOTNET_gcConservative): see graph.RootReader.
//
// If the references of a frame are unknown, the sequence has an error and continues with the next frame. An error of
// ctx ends it. If the GCFrames are unknown, the sequence ends with an error.
func (w *Walker) Roots(ctx context.Context, t *dac.Thread, regs target.Registers) iter.Seq2[Root, error] {
	return func(yield func(Root, error) bool) {
		if w.rt == nil || t == nil {
			return // native code holds no references
		}
		if err := w.rt.Check(dac.FeatureCodeReferences); err != nil {
			yield(Root{}, err)
			return
		}
		abi, err := w.rt.Target().Platform().ABI()
		if err != nil {
			yield(Root{}, err)
			return
		}
		s := rootScan{w: w, abi: abi, thread: t, cursor: w.unwinder.Cursor(stackOf(t, &regs))}
		var f Frame // one for all: it is large
		for f = range w.Walk(ctx, t, regs, WalkOptions{}) {
			s.tailCall = s.tailCall || s.makesTailCall(&f)
			if f.Lost != nil && !yield(Root{Frame: s.index, FrameIP: f.IP, FrameSP: f.SP, Undecoded: true}, f.Lost) {
				return
			}
			if !s.yieldFrame(&f, yield) {
				return
			}
			s.index++
			if f.Err != nil && (!yield(Root{Frame: s.index - 1, FrameIP: f.IP, FrameSP: f.SP}, f.Err) || ctx.Err() != nil) {
				return
			}
		}
		if w.yieldGCFrames(t, yield) && w.yieldHandled(t, yield) {
			w.yieldTailCall(t, s.tailCall, yield)
		}
	}
}

// tailCallHelpers are prefixes of the names of the methods that make explicit tail calls (tailcallhelp.cpp).
var tailCallHelpers = [...]string{"ILStubClass.IL_STUB_StoreTailCallArgs(", "ILStubClass.IL_STUB_CallTailCallTarget(",
	"System.Runtime.CompilerServices.RuntimeHelpers.DispatchTailCalls("}

// isTailCallHelper reports whether a method with that name makes tail calls.
func isTailCallHelper(name string) bool {
	return slices.ContainsFunc(tailCallHelpers[:], func(helper string) bool { return strings.HasPrefix(name, helper) })
}

// makesTailCall reports whether f, one of the first frames of t, shows that t may be about to make a tail call: f runs
// managed code in a helper of tail calls, or in code that a helper called.
func (s *rootScan) makesTailCall(f *Frame) bool {
	if f.Kind != FrameManaged || !s.thread.Cooperative || s.index > 1 {
		return false
	}
	name, err := f.Name()
	return err == nil && isTailCallHelper(name)
}

// yieldTailCall yields the arguments of a tail call that t is about to make. It yields an error for unreadable
// arguments only if making is set.
func (w *Walker) yieldTailCall(t *dac.Thread, making bool, yield func(Root, error) bool) {
	r := Root{Frame: -1, Explicit: "TailCallArgBuffer"}
	words, err := w.rt.TailCallArguments(t)
	if errors.Is(err, target.ErrUnsupported) && !making {
		err = nil
	}
	if err != nil && !yield(r, err) {
		return
	}
	for i := range words {
		r.Addr, r.Interior = words[i].Addr, words[i].Interior
		if r.Object, err = target.Pointer(w.rt.Memory(), r.Addr); err != nil {
			err = fmt.Errorf("arguments of a tail call: %w", err)
		}
		if !yield(r, err) {
			return
		}
	}
}

// yieldGCFrames yields the references in the GCFrames of t. It reports whether the caller wants more.
func (w *Walker) yieldGCFrames(t *dac.Thread, yield func(Root, error) bool) bool {
	for f, err := range w.rt.GCFrames(t) {
		r := Root{Frame: -1, FrameSP: f.Addr, Explicit: "GCFrame", Chained: true, Interior: f.Interior}
		if err != nil && !yield(r, err) {
			return false
		}
		for i := range f.Count {
			r.Addr = f.Reference(i)
			if r.Object, err = target.Pointer(w.rt.Memory(), r.Addr); err != nil {
				err = fmt.Errorf("references of the GCFrame %016x: %w", uint64(f.Addr), err)
			}
			if !yield(r, err) {
				return false
			}
		}
	}
	return true
}

// yieldHandled yields the exceptions that t is handling. It reports whether the caller wants more.
func (w *Walker) yieldHandled(t *dac.Thread, yield func(Root, error) bool) bool {
	slots, err := w.rt.ExceptionSlots(t)
	r := Root{Frame: -1, Explicit: "ExInfo"}
	if err != nil && !yield(r, fmt.Errorf("exceptions that thread %d is handling: %w", t.ManagedID, err)) {
		return false
	}
	for _, r.Addr = range slots {
		if r.Object, err = target.Pointer(w.rt.Memory(), r.Addr); err != nil {
			err = fmt.Errorf("exceptions that thread %d is handling: %w", t.ManagedID, err)
		}
		if (r.Object != 0 || err != nil) && !yield(r, err) {
			return false
		}
	}
	return true
}

// An UndecodedError reports that the references of a frame are unknown. All words of the frame that look like references are
// considered references in their place.
type UndecodedError struct {
	SP   target.Addr // of the frame
	Code target.Addr // start of its method
	Err  error       // why the method's GC info can't be read
	// Lost reports that the frame may hold references in registers with unknown values, which no word of the frame shows.
	Lost bool
}

func (e *UndecodedError) Error() string {
	return fmt.Sprintf("references of the frame %016x: %v", uint64(e.SP), e.Err)
}

func (e *UndecodedError) Unwrap() error { return e.Err }

// A rootScan is the state of a scan for the roots of one thread.
type rootScan struct {
	w          *Walker
	thread     *dac.Thread
	abi        *target.ABI
	cursor     *unwind.Cursor
	decoder    codeinfo.GCDecoder
	slots      []codeinfo.Slot
	index      int           // of the frame
	tailCall   bool          // the thread may be making a tail call
	unrecorded error         // why some references of the frame are unknown, or nil
	above      dac.FrameKind // kind of the previous frame, if that was explicit
	parent     parent

	// dispatching is set if the frames after a funclet belong to the runtime's managed exception handling, which
	// called the funclet. They are alive, unlike frames after the explicit frame of a throw.
	dispatching bool
}

// A parent is the activation that a funclet belongs to. The exception abandoned the frames before it, unless the
// funclet is a filter.
type parent struct {
	start  target.Addr // start of the method, 0 for no parent
	fp     target.Addr
	filter bool
}

// matches reports whether f is the parent. A funclet and its parent have the same frame pointer.
func (p *parent) matches(f *Frame) bool {
	fp, _ := f.Regs.FP()
	return f.Code.Start == p.start && fp == p.fp
}

// yieldFrame yields the roots of one frame.
func (s *rootScan) yieldFrame(f *Frame, yield func(Root, error) bool) bool {
	if f.Kind != FrameManaged {
		if s.above = f.Explicit.Kind; s.above != dac.FrameInlinedCall {
			s.dispatching = false
		}
		return f.Kind != FrameExplicit || s.yieldProtected(f, yield)
	}
	above := s.above
	s.above, s.unrecorded = dac.FrameUnknown, nil
	state, skip, err := s.frameState(f, above)
	if err == nil && !skip {
		err = s.readSlots(f, state)
	}
	if err != nil {
		err = &UndecodedError{SP: f.SP, Code: f.Code.Start, Err: err, Lost: s.losesRegisters(f, above)}
		return yield(Root{Frame: s.index, FrameIP: f.IP, FrameSP: f.SP, Method: f.Code.Method, Undecoded: true}, err)
	}
	if skip {
		return true
	}
	for i := range s.slots {
		if s.lacksRegister(f, s.slots[i]) {
			s.unrecorded = ErrRunning
			continue
		}
		r, err := s.readRoot(f, s.slots[i])
		if err != nil && isOverflow(f, r.Addr, err) {
			continue
		}
		if !yield(r, err) {
			return false
		}
	}
	if s.unrecorded == nil {
		return true
	}
	err = fmt.Errorf("references of the frame %016x: %w", uint64(f.SP), s.unrecorded)
	return yield(Root{Frame: s.index, FrameIP: f.IP, FrameSP: f.SP, Method: f.Code.Method, Undecoded: true}, err)
}

// lacksRegister reports whether a slot is a register that is not known in the first frame of a thread that runs. Code without unwind data, such
// as a stub, may have been called, so that only the frame pointer leads to the frame.
func (s *rootScan) lacksRegister(f *Frame, slot codeinfo.Slot) bool {
	if s.index != 0 || !s.thread.Cooperative || slot.Base != codeinfo.BaseRegister {
		return false
	}
	_, known := f.Regs.Get(slot.Reg)
	return !known
}

// losesRegisters reports whether a register is unknown in which a frame may hold a reference while the method that it called runs. The first frame
// has those of the thread, and code that is left by an explicit frame holds no reference in a register (codegencommon.cpp, genFinalizeFrame).
func (s *rootScan) losesRegisters(f *Frame, above dac.FrameKind) bool {
	if s.index == 0 || above != dac.FrameUnknown {
		return false
	}
	for reg := range s.abi.General.All {
		if _, known := f.Regs.Get(reg); !known && s.abi.Preserves(reg) {
			return true
		}
	}
	return false
}

// yieldProtected yields the references in an explicit frame.
func (s *rootScan) yieldProtected(f *Frame, yield func(Root, error) bool) bool {
	r := Root{Frame: s.index, FrameIP: f.IP, FrameSP: f.SP, Explicit: f.Explicit.Class}
	if f.Explicit.Kind == dac.FrameTransition {
		r.Method, _ = f.Method() // heldBy returns the error
	}
	slots, err := s.heldBy(f)
	for i := range slots {
		r.Addr, r.Interior = slots[i].at, slots[i].interior
		var err error
		if r.Object, err = target.Pointer(f.Runtime.Memory(), r.Addr); err != nil {
			err = fmt.Errorf("references of the frame %016x: %w", uint64(f.SP), err)
		}
		if !yield(r, err) {
			return false
		}
	}
	r.Addr, r.Interior, r.Object = 0, false, 0
	return err == nil || yield(r, err)
}

// heldBy returns the words that hold the references of an explicit frame. With an error, it returns the known words.
func (s *rootScan) heldBy(f *Frame) ([]heldSlot, error) {
	area, held, err := f.Runtime.FrameArguments(&f.Explicit)
	if err == nil && held {
		var slots []heldSlot
		if slots, err = heldArguments(f, area, s.abi); err != nil {
			err = fmt.Errorf("%s %016x: %w", f.Explicit.Class, uint64(f.SP), err)
		}
		return slots, err
	}
	var slots []heldSlot
	places, interior, perr := f.Runtime.Protected(&f.Explicit)
	if err == nil {
		err = perr
	}
	if err == nil {
		err = f.Runtime.UnreadReferences(&f.Explicit)
	}
	for _, at := range places {
		slots = append(slots, heldSlot{at, interior})
	}
	values, verr := f.Runtime.ProtectedValues(&f.Explicit, s.thread)
	if err == nil {
		err = verr
	}
	for i := range values {
		held, verr := heldInValue(f, &values[i])
		if slots = append(slots, held...); err == nil {
			err = verr
		}
	}
	return slots, err
}

// heldInValue returns the references in a value that an explicit frame keeps.
func heldInValue(f *Frame, v *dac.ProtectedValue) ([]heldSlot, error) {
	if v.Type == 0 {
		return []heldSlot{{v.Data, false}}, nil
	}
	t, err := objects.New(f.Runtime).Type(v.Type)
	if err != nil {
		return nil, err
	}
	leaves, err := t.Leaves()
	var out []heldSlot
	for _, l := range leaves {
		if interior := l.Type == metadata.ElementByRef; interior || l.IsReference() {
			out = append(out, heldSlot{v.Data + target.Addr(l.Offset), interior})
		}
	}
	return out, err
}

// frameState returns the state of the frame for the garbage collector, and whether the frame is dead.
func (s *rootScan) frameState(f *Frame, above dac.FrameKind) (state codeinfo.FrameState, skip bool, err error) {
	switch {
	case above == dac.FrameFault || above == dac.FrameSoftwareException:
		state = codeinfo.ExecutionAborted
	case f.Exact:
		state = codeinfo.ActiveFrame
	}
	if s.parent.start == 0 {
		if !f.Code.Funclet {
			return state, false, nil
		}
		return s.enterFunclet(f, state)
	}
	p := s.parent
	if f.Code.Funclet || !p.matches(f) {
		// The exception of a funclet abandoned these frames, or another funclet of the same activation shares its
		// frame, which was reported already.
		s.dispatching = s.dispatching && !f.Code.Funclet
		skip = !p.filter && !s.dispatching
		s.dispatching = s.dispatching || f.Code.Funclet
		return state, skip, nil
	}
	s.parent, s.dispatching = parent{}, false
	if !p.filter {
		state |= codeinfo.ParentOfFunclet
	}
	return state, false, nil
}

// enterFunclet returns the state of the first funclet of an activation.
func (s *rootScan) enterFunclet(f *Frame, state codeinfo.FrameState) (codeinfo.FrameState, bool, error) {
	filter, err := s.isFilter(f)
	fp, _ := f.Regs.FP()
	s.parent, s.dispatching = parent{start: f.Code.Start, fp: fp, filter: filter}, true
	if filter {
		state |= codeinfo.NoUntracked
	}
	return state, false, err
}

// isFilter reports whether f runs the filter of a clause.
func (s *rootScan) isFilter(f *Frame) (bool, error) {
	clauses, err := s.w.code.EHClauses(f.Code)
	if err != nil {
		return false, err
	}
	for i := range clauses {
		c := &clauses[i]
		if c.Kind == codeinfo.EHFilter && f.Code.Start+target.Addr(c.Filter) == f.Code.Function.Begin {
			return true, nil
		}
	}
	return false, nil
}

// ErrRunning is the error of a frame of a thread that stopped where not all of its references are known, as a thread that runs may at any
// time. All words of the frame that look like references are considered references in their place.
var ErrRunning = target.Unsupportedf("the thread stopped where not all references are known: a collection would let it continue first")

// readSlots decodes the live slots of a frame.
func (s *rootScan) readSlots(f *Frame, state codeinfo.FrameState) error {
	s.slots = s.slots[:0]
	if err := s.w.code.DecodeGCInfo(&s.decoder, f.Code); err != nil {
		return err
	}
	between := s.isUninterruptible(f, state)
	if f.Exact && !f.Code.Funclet && !s.cursor.Framed(&unwind.Frame{Regs: f.Regs, Exact: true}, managedCode(&f.Code)) {
		state |= codeinfo.NoUntracked // the slots do not exist yet, or no longer
	}
	q := codeinfo.Query{Offset: f.Code.Offset, State: state, ABI: s.abi}
	var err error
	if s.slots, err = s.decoder.LiveSlots(s.slots, q); err == nil && between && !s.decoder.Records(q) {
		s.unrecorded = ErrRunning
	}
	return err
}

// isUninterruptible reports whether f may be at an instruction where no collection can happen: it is the first frame of
// a thread in cooperative mode.
func (s *rootScan) isUninterruptible(f *Frame, state codeinfo.FrameState) bool {
	return s.index == 0 && s.thread.Cooperative && state&^codeinfo.ActiveFrame == 0 && !f.AtException
}

// isOverflow reports whether the slot at a is unreadable because the stack overflowed. It lies in the part of an
// interrupted frame for which the process had no memory, so it was never written.
func isOverflow(f *Frame, a target.Addr, unread error) bool {
	return f.Exact && a >= f.SP && a < f.CallerSP && errors.Is(unread, target.ErrCorrupt)
}

// readRoot reads a slot.
func (s *rootScan) readRoot(f *Frame, slot codeinfo.Slot) (Root, error) {
	r := Root{Frame: s.index, FrameIP: f.IP, FrameSP: f.SP, Method: f.Code.Method, Slot: slot,
		Interior: slot.Flags&codeinfo.SlotInterior != 0, Pinned: slot.Flags&codeinfo.SlotPinned != 0}
	if slot.Base == codeinfo.BaseRegister {
		v, ok := f.Regs.Get(slot.Reg)
		r.Object = target.Addr(v)
		if !ok {
			return r, target.Unsupportedf("the reference in %s of the frame %016x: the register is not known", slot, uint64(f.SP))
		}
		return r, nil
	}
	var callerSP target.Addr
	if slot.Base == codeinfo.BaseCallerSP {
		caller := unwind.Frame{Regs: f.Regs, Trust: f.Trust, Exact: f.Exact}
		if _, err := s.cursor.StepIn(&caller, managedCode(&f.Code), unwind.TrustUnwind); err != nil {
			return r, err
		}
		callerSP, _ = caller.Regs.SP()
	}
	var ok bool
	if r.Addr, ok = slot.Address(&f.Regs, callerSP); !ok {
		return r, target.Unsupportedf("the place %s of the frame %016x: the register is not known", slot, uint64(f.SP))
	}
	var err error
	if r.Object, err = target.Pointer(f.Runtime.Memory(), r.Addr); err != nil {
		return r, fmt.Errorf("reference at %s of the frame %016x: %w", slot, uint64(f.SP), err)
	}
	return r, nil
}
