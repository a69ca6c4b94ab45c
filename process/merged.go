package process

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

// SeveralRuntimes reports whether the process has more than one CLR, so that
// stacks are best shown through all of them.
func (d *Dump) SeveralRuntimes() bool {
	n := 0
	for _, inst := range d.Runtimes() {
		if inst.Flavor == dac.FlavorCoreCLR {
			n++
		}
	}
	return n > 1
}

// MergedWalk walks the stack of an OS thread through all CLRs of the process that know it, or of a thread that none knows
// the native frames, if o wants them; see stackwalk.MergedWalk. A CLR that can't be opened is left out: Runtime and Diagnose return the
// reason.
func (d *Dump) MergedWalk(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	var parts []stackwalk.Part
	var other *stackwalk.Part // a thread that no CLR knows has native frames alone
	for _, inst := range d.Runtimes() {
		if inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		p := d.ProcessOf(inst)
		walker, err := p.Walker()
		if err != nil {
			continue
		}
		list, _ := p.Threads() // as many as there are
		t := threads.ByID(list, osThread)
		switch {
		case t == nil || t.OS == nil:
		case t.Managed != nil:
			parts = append(parts, stackwalk.Part{Walker: walker, Thread: t.Managed, Registers: t.OS.Registers})
		case o.Native && other == nil:
			other = &stackwalk.Part{Walker: walker, Registers: t.OS.Registers}
		}
	}
	if len(parts) == 0 && other != nil {
		parts = append(parts, *other)
	}
	return stackwalk.MergedWalk(ctx, parts, o)
}

// FoldedWalk is Dump.MergedWalk as the process's runtime sees it: its own frames, and one frame for each run of frames of other
// runtimes; see stackwalk.FoldOthers.
func (p *Process) FoldedWalk(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	rt, _ := p.Runtime() // without one all frames are others'
	return stackwalk.FoldOthers(p.orNone().dump.MergedWalk(ctx, osThread, o), rt)
}
