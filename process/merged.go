package process

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
)

// SeveralRuntimes reports whether the process has more than one CLR. MergedWalk then shows more than Process.Walk.
func (d *Dump) SeveralRuntimes() bool {
	n := 0
	for _, inst := range d.Runtimes() {
		if inst.Flavor == dac.FlavorCoreCLR {
			n++
		}
	}
	return n > 1
}

// MergedWalk walks the stack of an OS thread through all CLRs that know it; see stackwalk.MergedWalk. For a thread
// unknown to all CLRs it yields native frames, if o includes them. A CLR that cannot be opened is skipped: Runtime
// and Diagnose return the reason.
func (d *Dump) MergedWalk(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	var parts []stackwalk.Part
	var other *stackwalk.Part // for a thread that no CLR knows: native frames only
	for _, inst := range d.Runtimes() {
		if inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		p := d.ProcessOf(inst)
		walker, err := p.Walker()
		if err != nil {
			continue
		}
		list, _ := p.Threads() // a partial list suffices
		t := stackwalk.ThreadByID(list, osThread)
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

// FoldedWalk is Dump.MergedWalk with each run of frames of other runtimes folded into one frame; see
// stackwalk.FoldOthers.
func (p *Process) FoldedWalk(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	rt, _ := p.Runtime() // without a runtime, all frames belong to others
	return stackwalk.FoldOthers(p.dump.MergedWalk(ctx, osThread, o), rt)
}
