package stackwalk

import (
	"context"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// raised is the exception that a dump was written for, if its thread has continued since: it runs the handler, which writes the dump.
type raised struct {
	thread  uint32
	at, now target.Registers // when it was raised, and when the dump was written
}

// raisedIn returns the raised exception, nil if there is none.
func raisedIn(t target.Target) *raised {
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

// start returns the registers where the walk of a thread starts, given its current registers. It reports whether that
// is where the thread raised the exception.
func (w *Walker) start(ctx context.Context, t *dac.Thread, regs *target.Registers, o WalkOptions) (*target.Registers, bool) {
	if o.Now {
		return regs, false
	}
	x := w.raised()
	switch {
	case x == nil || !samePlace(regs, &x.now):
		return regs, false
	case !x.now.Known():
		if t.OSID != x.thread { // the thread may have no registers
			return regs, false
		}
	case w.leftSince(ctx, t, x):
		return regs, false
	}
	return &x.at, true
}

// leftSince reports whether the thread has left the place of the exception, or has newer managed code on its stack. A
// walk from that place would lack those frames.
func (w *Walker) leftSince(ctx context.Context, t *dac.Thread, x *raised) bool {
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
