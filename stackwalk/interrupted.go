package stackwalk

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// Interrupted returns the registers of the code that a signal interrupted, given the registers of a thread that runs
// the signal's handler. The trust is the trust of the unwound handler. On a stack other than the thread's own, it is
// unwind.TrustScan: the registers are the first data in the shape of the kernel's signal frame. It reports false if the
// thread handles no signal, or if that is unknown. t is nil for a thread without a managed Thread.
func (w *Walker) Interrupted(t *dac.Thread, regs target.Registers) (target.Registers, Trust, bool) {
	if w.unwinder == nil {
		return target.Registers{}, 0, false
	}
	if t == nil {
		t = new(dac.Thread)
	}
	at := unwind.Frame{Regs: regs, Trust: unwind.TrustContext, Exact: true}
	cursor := w.unwinder.Cursor(stackOf(t, &regs))
	for range maxRuntimeFrames {
		trust := at.Trust
		more, err := cursor.Step(&at, unwind.TrustFP)
		if err != nil || !more {
			break
		}
		if at.Trust = min(at.Trust, trust); at.Exact {
			return at.Regs, at.Trust, true
		}
	}
	sp, ok := regs.SP()
	if !ok || t.Stack.Size() == 0 || t.Stack.Contains(sp) {
		return target.Registers{}, 0, false
	}
	win := target.NewWindow(w.mem)
	for a := (sp + 7) &^ 7; a < sp+maxSignalSearch; a += 8 {
		if found, ok := unwind.SignalContext(win, regs.Arch, a); ok {
			return found, unwind.TrustScan, true
		}
	}
	return target.Registers{}, 0, false
}
