package stackwalk

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A thread in cooperative mode may run native code without an explicit frame. Managed code calls some functions without
// one: FCalls, helpers of the compiler, and P/Invokes marked SuppressGCTransition. A signal interrupts managed code,
// and its handler has no frame at first. Only native unwinding leads back to managed code from there.

// maxSignalSearch is the number of bytes above the stack pointer that are searched for a signal's frame.
const maxSignalSearch = 64 << 10

// enterManaged continues at the managed code that called the thread's native code, or that was interrupted, if no
// explicit frame leads there. It sets lost if this can't be decided.
func (s *walk) enterManaged() {
	if s.managed || !s.thread.Cooperative || s.w.code == nil || s.frameIsElsewhere() {
		return
	}
	at, found, err := s.managedCaller()
	if !found && err != nil {
		if interrupted, ok := s.interruptedCode(); ok {
			at, found = interrupted, true
		}
	}
	if found {
		if s.runs {
			s.emitActivation(FrameNative)
		}
		s.at = at
		s.lookup()
		return
	}
	if err != nil && !s.frameLeadsOn() {
		s.lost = fmt.Errorf("the thread's native code can't be unwound to its caller: %w", err)
	}
}

// frameIsElsewhere reports whether the next explicit frame leads on and lies on another stack than the thread's own, as
// for the handling of overflows. The runtime prepares data there for its own unwinder that would look like a caller.
func (s *walk) frameIsElsewhere() bool {
	return s.hasFrame && s.thread.Stack.Size() > 0 && !s.thread.Stack.Contains(s.frame.Addr) && s.frameLeadsOn()
}

// managedCaller unwinds native code to the managed code that called it. It reports false if an explicit frame of that
// native code comes first. It returns an error if the native code can't be unwound.
func (s *walk) managedCaller() (unwind.Frame, bool, error) {
	at := s.at
	for range maxRuntimeFrames {
		trust := at.Trust
		more, err := s.cur.Step(&at, unwind.TrustFP)
		if err != nil {
			return at, false, err
		}
		if !more {
			return at, false, nil
		}
		at.Trust = min(at.Trust, trust)
		s.unhijack(&at)
		sp, _ := at.Regs.SP()
		if s.hasFrame && s.frame.Addr < sp && s.thread.Stack.Contains(sp) {
			return at, false, nil
		}
		if s.isManaged(&at) {
			own := s.thread.Stack.Size() == 0 || s.thread.Stack.Contains(sp) // managed code runs only there
			return at, own && !s.frameIsIn(&at), nil
		}
	}
	return at, false, target.Corruptf("more than %d native frames", maxRuntimeFrames)
}

// isManaged reports whether at is in managed code.
func (s *walk) isManaged(at *unwind.Frame) bool {
	ip, _ := at.Regs.IP()
	info, err := s.w.code.MethodAt(ip)
	return err == nil && info.Method != nil
}

// frameIsIn reports whether the next explicit frame belongs to a call by at, which is managed code.
func (s *walk) frameIsIn(at *unwind.Frame) bool {
	if !s.hasFrame || s.frame.Kind != dac.FrameInlinedCall || !s.frameLeadsOn() {
		return false
	}
	caller := *at
	if more, err := s.cur.Step(&caller, unwind.TrustFP); err != nil || !more {
		return true // the frame is at the same place
	}
	end, _ := caller.Regs.SP()
	return s.frame.Addr < end
}

// frameLeadsOn reports whether native code created the next explicit frame for itself, so that it leads to the native
// code's caller.
func (s *walk) frameLeadsOn() bool {
	if !s.hasFrame || s.frame.Kind == dac.FramePlain {
		return false
	}
	regs := target.Registers{Arch: s.at.Regs.Arch}
	how, err := s.w.rt.FrameCaller(&s.frame, &regs)
	return err != nil || how != dac.CallerNone
}

// interruptedCode returns the managed code that a signal interrupted, for a handler that can't be unwound. It searches
// above the stack pointer for data in the shape of the kernel's signal frame. The managed code must have run on the
// thread's own stack, above any explicit frame.
func (s *walk) interruptedCode() (unwind.Frame, bool) {
	sp, ok := s.at.Regs.SP()
	if !ok {
		return unwind.Frame{}, false
	}
	win := target.NewWindow(s.w.mem)
	sp = (sp + 7) &^ 7
	for a := sp; a < sp+maxSignalSearch; a += 8 {
		if s.thread.Stack.Contains(sp) && !s.thread.Stack.Contains(a) || s.hasFrame && a >= s.frame.Addr && s.frame.Addr >= sp {
			break
		}
		regs, ok := unwind.SignalContext(win, s.at.Regs.Arch, a)
		if !ok {
			continue
		}
		at := unwind.Frame{Regs: regs, Trust: unwind.TrustScan, Exact: true}
		then, _ := regs.SP()
		if s.thread.Stack.Contains(then) && (!s.hasFrame || then <= s.frame.Addr) && s.isManaged(&at) && !s.frameIsIn(&at) {
			return at, true
		}
	}
	return unwind.Frame{}, false
}
