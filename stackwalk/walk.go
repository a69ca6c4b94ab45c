package stackwalk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A Walker walks the stacks of the threads of one process. It caches facts about code and is safe for concurrent use.
type Walker struct {
	target   target.Target
	mem      target.Memory
	rt       *dac.Runtime    // nil for native code
	code     *dac.CodeReader // of rt; nil if rt is nil
	codes    *codeMap
	unwinder *unwind.Unwinder
	regions  *regionIndex
	raised   func() *raised // returns nil if every walk starts at its thread's registers
}

// NewWalker returns a Walker for the threads of rt. It unwinds the code of others, further runtimes in the process, but
// does not yield it.
func NewWalker(rt *dac.Runtime, others ...*dac.Runtime) *Walker {
	w := NewNativeWalker(rt.Target(), rt.Memory())
	w.rt, w.code = rt, dac.CodeOf(rt)
	w.codes.runtimes = append(w.codes.runtimes, w.code)
	for _, other := range others {
		w.codes.runtimes = append(w.codes.runtimes, dac.CodeOf(other))
	}
	return w
}

// NewNativeWalker returns a Walker for a process without a runtime that sosgo reads, such as NativeAOT. Its walks yield
// only native activations, whatever the options, and Runtime returns nil. mem is t's memory, or a memory that completes
// it.
func NewNativeWalker(t target.Target, mem target.Memory) *Walker {
	w := &Walker{target: t, mem: mem, codes: &codeMap{native: newNativeCode(t, mem)}}
	w.unwinder = unwind.New(mem, w.codes)
	w.regions = newRegionIndex(t)
	w.raised = sync.OnceValue(func() *raised { return findRaised(t) })
	return w
}

// AllNative reports whether all code of w's runtime is native, so that its methods have native activations.
func (w *Walker) AllNative() bool { return w.rt != nil && w.rt.Check(dac.FeatureMethods) != nil }

// WalkOptions selects what a walk yields.
type WalkOptions struct {
	Native bool // also activations of native code
	// Now starts at the given registers even for the thread of the exception that the dump was written for. It
	// leaves native code on top only through explicit frames.
	Now bool
	// Carried keeps the values of registers that an explicit frame does not record, as SOS does.
	Carried bool
}

// Walk iterates over the stack of t, given its registers, the leaf first. It yields managed activations and the
// runtime's explicit frames, each before the managed activation that contains it, as SOS does. If AllNative returns
// true, methods have native activations. An explicit frame of an unmanaged call is yielded twice: for the unmanaged
// code, with the registers of the thread, and in its method.
//
// A thread in cooperative mode may run native code that managed code called without an explicit frame, or a handler of
// a signal that interrupted managed code. The walk then starts with that managed code.
//
// t is nil for a thread that never ran managed code of the runtime. Its stack has only native activations.
//
// For the thread of the exception that the dump was written for, the walk starts at the exception's registers instead
// of regs, and sets AtException on the first frame. It does so only if the thread has run nothing but native code
// since, such as the code that writes the dump.
//
// A walk that can't continue, or is cancelled by ctx, ends with a frame that has Err. A walk that can't start yields a
// single FrameNative with Err.
func (w *Walker) Walk(ctx context.Context, t *dac.Thread, regs target.Registers, o WalkOptions) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		o.Native = o.Native || w.rt == nil || w.AllNative()
		if t == nil {
			t = new(dac.Thread)
		}
		at, exception := w.start(ctx, t, &regs, o)
		s := &walk{ctx: ctx, w: w, thread: t, options: o, yield: yield, exception: exception, cur: w.unwinder.Cursor(stackOf(t, at)),
			enter: !o.Native && !o.Now}
		s.begin(at, false)
	}
}

// errNoRuntime is the error of a Walker without a runtime.
var errNoRuntime = target.Unsupportedf("no runtime to walk the threads of")

// stackOf returns the stack that the registers are on, as the runtime recorded it. It is empty for another stack.
func stackOf(t *dac.Thread, regs *target.Registers) target.Range {
	if sp, ok := regs.SP(); ok && t.Stack.Contains(sp) {
		return t.Stack
	}
	return target.Range{}
}

// A walk is the state of one walk. It goes through the stack as the runtime's own walker does (stackwalk.cpp,
// StackFrameIterator): it unwinds managed code, and leaves native code through the next explicit frame.
type walk struct {
	ctx     context.Context
	w       *Walker
	thread  *dac.Thread
	signal  target.Range // the stack that the thread is on, if it is not its own
	options WalkOptions
	yield   func(Frame) bool
	cur     *unwind.Cursor

	at        unwind.Frame
	code      dac.CodeInfo
	managed   bool      // at is in managed code: code
	codeErr   error     // why managed is unknown
	frame     dac.Frame // the next explicit frame
	hasFrame  bool
	frameErr  error
	left      target.Addr // the explicit frame through which native code was last left
	blind     bool        // do not unwind native code: use explicit frames
	runs      bool        // yield each run of native code as one activation
	stopped   bool
	exception bool  // the next frame is the first of a walk from an exception
	enter     bool  // continue from native code on top to its managed caller without an explicit frame
	lost      error // why that failed, for the next frame
	count     int
	last      *Frame // not yielded yet, because it may be the last one and needs Err
	slot      Frame
}

// begin starts the walk at regs. If seeded is set, they belong to a calling frame, and the explicit frames above it are
// ignored.
func (s *walk) begin(regs *target.Registers, seeded bool) {
	s.at = unwind.Frame{Regs: *regs, Trust: unwind.TrustContext, Exact: !seeded}
	if sp, ok := regs.SP(); ok {
		s.signal = s.thread.SignalStack(sp)
	}
	s.setFrame(s.thread.Frame)
	if sp, ok := regs.SP(); ok && seeded {
		for s.hasFrame && s.frame.Addr < sp {
			s.nextFrame()
		}
	}
	s.lookup()
	if s.enter {
		s.enterManaged()
	}
	s.run()
}

func (s *walk) run() {
	for !s.stopped {
		if err := s.ctx.Err(); err != nil {
			s.finish(err)
			return
		}
		if s.count++; s.count > limits.StackFrames {
			s.finish(target.Corruptf("more than %d frames", limits.StackFrames))
			return
		}
		var more bool
		var err error
		if s.managed {
			more, err = s.stepManaged()
		} else {
			more, err = s.stepNative()
		}
		if !more {
			s.finish(err)
			return
		}
	}
}

// lookup finds the code at the registers.
func (s *walk) lookup() {
	if s.managed, s.codeErr = false, nil; s.w.code == nil {
		return
	}
	ip, _ := s.at.Regs.IP()
	info, err := s.w.code.MethodAt(ip)
	if s.managed = err == nil && info.Method != nil; s.managed {
		s.code, s.blind = info, false
	} else if err != nil && !errors.Is(err, dac.ErrNoCode) {
		s.codeErr = err
	}
}

// setFrame sets the next explicit frame to the one at a.
func (s *walk) setFrame(a target.Addr) {
	s.hasFrame, s.frameErr = false, nil
	if a == 0 || a == ^target.Addr(0) {
		return
	}
	if st := s.thread.Stack; st.Size() > 0 && !st.Contains(a) && !s.signal.Contains(a) {
		s.frameErr = target.Corruptf("the explicit frame %#x is outside of the thread's stack", uint64(a))
		return
	}
	f, err := s.w.rt.Frame(a)
	if err != nil {
		s.frameErr = err
		return
	}
	s.frame, s.hasFrame = f, true
}

// nextFrame moves to the next explicit frame.
func (s *walk) nextFrame() {
	next, err := s.thread.NextFrame(&s.frame)
	if s.setFrame(next); err != nil {
		s.frameErr = err
	}
}

// stepManaged yields the explicit frames inside a managed activation, then the activation, and moves to its caller.
func (s *walk) stepManaged() (bool, error) {
	caller := s.at
	more, err := s.cur.StepIn(&caller, managedCode(&s.code), unwind.TrustFP)
	if err == nil && more {
		end, _ := caller.Regs.SP()
		for s.hasFrame && s.frame.Addr < end {
			if !s.emitExplicit() {
				return false, nil
			}
			s.nextFrame()
		}
	}
	if !s.emitManaged(&caller, err == nil && more) || !more {
		return false, err
	}
	s.at = caller
	s.unhijack(&s.at)
	s.lookup()
	if s.lost = cmp.Or(s.lost, s.at.Doubt); s.lost == nil {
		s.lost = s.stray()
	}
	s.at.Doubt = nil
	return true, nil
}

// stray returns an error if s.at, the caller of a managed method or a managed caller of the runtime, is in nobody's code: between methods,
// or outside of executable memory.
func (s *walk) stray() error {
	if s.managed || s.codeErr != nil {
		return nil
	}
	ip, _ := s.at.Regs.IP()
	kind, err := s.w.code.KindAt(ip)
	switch {
	case err == nil && (kind == dac.CodeJIT || kind == dac.CodeReadyToRun):
		if info, err := s.w.code.MethodAt(ip); err == nil && info.Kind == dac.CodeStub {
			return nil
		}
		return target.Corruptf("the stack returns to %016x, which is between methods", uint64(ip))
	case errors.Is(err, dac.ErrNoCode) && !s.w.codes.InCode(ip) && !s.w.regions.executes(ip):
		return target.Corruptf("the stack returns to %016x, which is nobody's code", uint64(ip))
	}
	return nil
}

// unhijack restores a return address that the runtime has replaced. It is right below the start of the caller's stack,
// where calls push it. Its place contains the address of the runtime's stub. After the method has returned and before
// the stub has a frame, the place contains arbitrary data.
func (s *walk) unhijack(at *unwind.Frame) {
	sp, ok := at.Regs.SP()
	processor, err := at.Regs.Arch.Processor()
	if !ok || err != nil || processor.ReturnAddressSize == 0 || s.thread == nil || s.w.rt == nil {
		return
	}
	if ip, ok := s.w.rt.HijackedReturn(s.thread, sp-target.Addr(processor.ReturnAddressSize)); ok {
		at.Regs.SetIP(ip)
	}
}

// stepNative leaves native code. It unwinds the code if native frames are wanted. Otherwise it uses the next explicit
// frame, which records the managed code below.
func (s *walk) stepNative() (bool, error) {
	if _, ok := s.at.Regs.IP(); !ok && !s.blind && (s.options.Native || s.runs) {
		s.blind = true
		s.codeErr = fmt.Errorf("registers of the thread: %w", target.ErrNotInDump)
	}
	if !s.blind {
		if s.options.Native {
			return s.unwindNative()
		}
		s.blind = true
		if s.runs && !s.emitActivation(FrameNative) {
			return false, nil
		}
	}
	if !s.hasFrame {
		lost := s.lost
		s.lost = nil
		return false, errors.Join(s.frameErr, s.codeErr, lost)
	}
	if !s.emitExplicit() {
		return false, nil
	}
	return s.leaveByFrame()
}

// leaveByFrame moves to the caller of the next explicit frame, if known, and to the following explicit frame.
func (s *walk) leaveByFrame() (bool, error) {
	f := s.frame
	caller, how, err := s.callerOf(&f)
	active := false
	if err == nil && how != dac.CallerNone {
		was := s.at
		s.at = caller
		if s.lookup(); !s.managed {
			if err = s.codeErr; how == dac.CallerReturn {
				err = cmp.Or(err, s.stray())
			}
			s.at = was
		}
		active = f.Kind == dac.FrameInlinedCall && s.managed
		s.left = f.Addr
	}
	// A frame of a call from a managed method is inside the method, which yields it again.
	if !active {
		s.nextFrame()
	}
	if err != nil && !s.hasFrame {
		return false, err
	}
	s.lost = err
	return true, nil
}

// callerOf returns the managed code that an explicit frame returns to.
func (s *walk) callerOf(f *dac.Frame) (unwind.Frame, dac.FrameCaller, error) {
	at := unwind.Frame{Regs: s.at.Regs, Trust: unwind.TrustContext}
	how, err := s.w.rt.FrameCaller(f, &at.Regs)
	if err != nil {
		return at, dac.CallerNone, err
	}
	if s.options.Carried && how == dac.CallerReturn {
		for r, v := range s.at.Regs.All {
			if _, ok := at.Regs.Get(r); !ok {
				at.Regs.Set(r, v)
			}
		}
	}
	at.Exact = how == dac.CallerInterrupted
	if how == dac.CallerNative {
		err = s.leaveRuntime(&at, f.Addr)
	}
	if err == nil && how != dac.CallerNone {
		err = s.checkCaller(f, &at)
	}
	return at, how, err
}

// checkCaller returns an error if a caller lies above the part that was already walked, or if the same frame led to it
// before. A thread on another stack, such as a signal's, may return to its own.
func (s *walk) checkCaller(f *dac.Frame, at *unwind.Frame) error {
	now, _ := s.at.Regs.SP()
	sp, _ := at.Regs.SP()
	if f.Addr == s.left || s.thread.Stack.Contains(now) && sp < now {
		return target.Corruptf("the explicit frame %#x leads back to %#x", uint64(f.Addr), uint64(sp))
	}
	return nil
}

// maxRuntimeFrames bounds the activations of the runtime's own code between a captured state and its managed caller.
const maxRuntimeFrames = 64

// leaveRuntime unwinds the runtime's code to the managed code that called it, as LazyMachState::unwindLazyState does.
func (s *walk) leaveRuntime(at *unwind.Frame, frame target.Addr) error {
	for range maxRuntimeFrames {
		more, err := s.cur.Step(at, unwind.TrustFP)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		ip, _ := at.Regs.IP()
		if info, err := s.w.code.MethodAt(ip); err == nil && info.Method != nil {
			return nil
		}
	}
	return target.Corruptf("no managed code calls the runtime at the frame %#x", uint64(frame))
}

// unwindNative yields a native activation and the explicit frames inside it, and moves to its caller.
func (s *walk) unwindNative() (bool, error) {
	next := s.at
	more, err := s.cur.Step(&next, unwind.TrustScan)
	if !s.emitActivation(FrameNative) {
		return false, nil
	}
	if err == nil && !more && s.at.Trust < unwind.TrustUnwind {
		err = s.checkCut()
	}
	if err != nil || !more {
		s.blind = true // the explicit frames may lead on
		return err == nil || s.hasFrame, err
	}
	end, _ := next.Regs.SP()
	for s.hasFrame && s.thread.Newer(s.frame.Addr, end) {
		if next.Trust < unwind.TrustUnwind && s.frame.Kind != dac.FramePlain {
			s.blind = true // the frame is more reliable than a guess
			return true, nil
		}
		if !s.emitExplicit() {
			return false, nil
		}
		s.nextFrame()
	}
	s.unhijack(&next)
	s.at = next
	s.lookup()
	return true, nil
}

// checkCut returns an error if the dump does not hold the rest of the stack.
func (s *walk) checkCut() error {
	sp, _ := s.at.Regs.SP()
	x := s.w.regions
	i := x.at(sp)
	if i < 0 {
		return nil
	}
	r := &x.list[i]
	if end := r.Start + target.Addr(r.Stored); sp < end && r.Stored < r.Size {
		return fmt.Errorf("the stack from %#x on: %w", uint64(end), target.ErrNotInDump)
	}
	return nil
}

// emitActivation yields the current registers as an activation.
func (s *walk) emitActivation(k FrameKind) bool {
	ip, _ := s.at.Regs.IP()
	sp, _ := s.at.Regs.SP()
	f := Frame{Kind: k, IP: ip, SP: sp, Regs: s.at.Regs, Trust: s.at.Trust, Exact: s.at.Exact}
	if k == FrameManaged {
		f.Runtime, f.Code = s.w.rt, s.code
	} else if m := s.w.codes.native.module(ip); IsGenerated(m) {
		f.Generated = true
	} else if m != nil {
		f.Module = *m
	}
	return s.emit(f)
}

// emitManaged yields the managed activation. known reports whether caller is known.
func (s *walk) emitManaged(caller *unwind.Frame, known bool) bool {
	more := s.emitActivation(FrameManaged)
	if known {
		s.slot.CallerSP, _ = caller.Regs.SP()
	}
	return more
}

// emitExplicit yields the next explicit frame, after the interpreted methods that it represents.
func (s *walk) emitExplicit() bool {
	methods, err := s.w.rt.Interpreted(&s.frame)
	for i := range methods {
		if !s.emitInterpreted(&methods[i]) {
			return false
		}
	}
	if s.lost == nil {
		s.lost = err
	}
	return s.emitFrame()
}

// emitInterpreted yields an interpreted method as an activation. Its arguments and locals are relative to a stack of
// its own, which replaces the frame pointer (interpreter/compiler.cpp, .NET 11). If its place is unknown, the explicit
// frame has the method.
func (s *walk) emitInterpreted(m *dac.InterpretedMethod) bool {
	f := Frame{Kind: FrameManaged, IP: m.IP, SP: s.frame.Addr, Exact: m.Exact, Regs: target.Registers{Arch: s.at.Regs.Arch}, Trust: unwind.TrustContext, Runtime: s.w.rt}
	if m.Stack != 0 {
		f.Regs.SetFP(m.Stack)
	}
	var err error
	if f.Code, err = s.w.code.PlaceAt(m.IP); err == nil && (f.Code.Method == nil || f.Code.Method.Addr != m.MethodDesc) {
		err = target.Corruptf("the byte code at %016x is not of the method %016x", uint64(m.IP), uint64(m.MethodDesc))
	}
	if err != nil {
		f = s.explicitFrame()
		f.Explicit.Interpreted, f.Unplaced = *m, err
	}
	return s.emit(f)
}

func (s *walk) emitFrame() bool { return s.emit(s.explicitFrame()) }

func (s *walk) explicitFrame() Frame {
	ip, _ := s.at.Regs.IP()
	return Frame{Kind: FrameExplicit, IP: ip, SP: s.frame.Addr, Regs: s.at.Regs, Trust: unwind.TrustContext, Runtime: s.w.rt, Explicit: s.frame}
}

// emit yields the frame before f and keeps f.
func (s *walk) emit(f Frame) bool {
	if !s.flush() {
		return false
	}
	s.slot = f
	s.slot.AtException, s.exception = s.exception, false
	s.slot.Lost, s.lost = s.lost, nil
	s.last = &s.slot
	return true
}

func (s *walk) flush() bool {
	if s.last != nil && !s.stopped {
		s.stopped = !s.yield(*s.last)
		s.last = nil
	}
	return !s.stopped
}

// finish yields the last frame, with the reason why the walk ended.
func (s *walk) finish(err error) {
	if s.last == nil && err != nil && !s.stopped {
		s.emitActivation(FrameNative)
	}
	if s.last != nil && err != nil {
		s.last.Err = err
	}
	s.flush()
}
