package stackwalk

import (
	"context"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// raised is the exception that a dump was written for, where the thread that raised it
// has gone on since: into what handles it, and writes the dump.
type raised struct {
	thread  uint32
	at, now target.Registers // when it was raised, and when the dump was written
}

// raisedIn returns it, nil if there is none.
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

// samePlace reports whether registers are of the same activation.
func samePlace(a, b *target.Registers) bool {
	aip, aok := a.IP()
	bip, bok := b.IP()
	asp, asok := a.SP()
	bsp, bsok := b.SP()
	return aok == bok && asok == bsok && aip == bip && asp == bsp
}

// start is where the walk of a thread begins whose registers are regs, and whether that is
// where it raised the exception.
func (w *Walker) start(ctx context.Context, t *dac.Thread, regs *target.Registers, o WalkOptions) (*target.Registers, bool) {
	if o.Now {
		return regs, false
	}
	x := w.raised()
	switch {
	case x == nil || !samePlace(regs, &x.now):
		return regs, false
	case !x.now.Known():
		if t.OSID != x.thread { // as many others without registers
			return regs, false
		}
	case w.leftSince(ctx, t, x):
		return regs, false
	}
	return &x.at, true
}

// leftSince reports whether the thread has left the place of the exception, or has managed
// code on its stack that ran since: frames that a walk from that place would not have.
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
