package stackwalk

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// Interrupted returns the registers of the code that a signal interrupted whose handler the thread runs with the registers
// regs, and how far they are trusted: those that unwinding the handler leads to or, on a stack that is not the thread's own,
// the first that have the shape of what the kernel leaves there (unwind.TrustScan). It reports false where the thread
// handles no signal, or that can't be told. t is nil for a thread that the runtime does not know.
func (w *Walker) Interrupted(t *dac.Thread, regs target.Registers) (target.Registers, unwind.Trust, bool) {
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
