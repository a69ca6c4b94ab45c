package stackwalk

import (
	"context"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A raised is the exception that a dump was written for, if its thread has continued since to run the code that wrote
// it.
type raised struct {
	thread  uint32
	at, now target.Registers // at the exception and in the dump
}

// findRaised returns the raised exception, or nil.
func findRaised(t target.Target) *raised {
	x, ok := t.Exception()
	if !ok || x.Requested || x.ThreadID == 0 || !x.Registers.Known() {
		return nil
	}
	for _, th := range t.Threads() {
		if th.ID == x.ThreadID && !samePlace(&th.Registers, &x.Registers) {
			return &raised{thread: x.ThreadID, at: x.Registers, now: th.Registers}
		}
	}
	return nil
}

// samePlace reports whether registers belong to the same activation.
func samePlace(a, b *target.Registers) bool {
	aip, aok := a.IP()
	bip, bok := b.IP()
	asp, asok := a.SP()
	bsp, bsok := b.SP()
	return aok == bok && asok == bsok && aip == bip && asp == bsp
}

// start returns the registers where the walk of a thread starts, given its current registers. It reports whether they
// are the registers of the exception.
func (w *Walker) start(ctx context.Context, t *dac.Thread, regs *target.Registers, o WalkOptions) (*target.Registers, bool) {
	if o.Now {
		return regs, false
	}
	x := w.raised()
	switch {
	case x == nil || !samePlace(regs, &x.now):
		return regs, false
	case !x.now.Known():
		if t.OSID != x.thread { // the thread may not have registers
			return regs, false
		}
	case w.hasLeft(ctx, t, x):
		return regs, false
	}
	return &x.at, true
}

// hasLeft reports whether the thread has left the place of the exception, or has newer managed code on its stack. A
// walk from that place would miss those frames.
func (w *Walker) hasLeft(ctx context.Context, t *dac.Thread, x *raised) bool {
	raised, ok := x.at.SP()
	now, known := x.now.SP()
	if !ok || !known {
		return !ok
	}
	own := func(sp target.Addr) bool { return t.Stack.Size() == 0 || t.Stack.Contains(sp) }
	if !own(raised) || own(now) && now > raised {
		return true
	}
	if w.rt == nil {
		return false
	}
	for f := range w.Walk(ctx, t, x.now, WalkOptions{Now: true}) {
		if f.Kind == FrameManaged {
			return !own(f.SP) || f.SP < raised
		}
	}
	return false
}
