package sosgo

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
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

// MergedWalk walks the stack of an OS thread through all CLRs of the process:
// each runtime walks its own frames, and they are stitched by stack pointer, a
// runtime's explicit frames before what they stand on. With several CLRs every
// frame names its Runtime. A walk that ends early ends with a frame whose Err
// says why; the others go on.
func (d *Dump) MergedWalk(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	return func(yield func(stackwalk.Frame) bool) {
		var all []stackwalk.Frame
		for _, inst := range d.Runtimes() {
			if inst.Flavor == dac.FlavorCoreCLR {
				all = append(all, d.framesOf(ctx, inst, osThread, o)...)
			}
		}
		slices.SortStableFunc(all, func(a, b stackwalk.Frame) int { return cmp.Compare(a.SP, b.SP) })
		for i, f := range all {
			if i > 0 && f.Kind == stackwalk.FrameNative && slices.ContainsFunc(all[:i], func(g stackwalk.Frame) bool { return g.SP == f.SP && g.IP == f.IP }) {
				continue // each runtime saw it
			}
			if !yield(f) {
				return
			}
		}
	}
}

// framesOf collects one runtime's frames on an OS thread.
func (d *Dump) framesOf(ctx context.Context, inst *dac.Instance, osThread uint32, o stackwalk.WalkOptions) []stackwalk.Frame {
	v := d.viewOf(inst)
	rt, err := v.Runtime()
	if err != nil {
		return nil // Runtime and doctor tell why
	}
	threads, _ := rt.Threads() // as many as there are
	i := slices.IndexFunc(threads, func(t dac.Thread) bool { return t.OSID == osThread })
	os := slices.IndexFunc(d.file.Threads(), func(t target.Thread) bool { return t.ID == osThread })
	if i < 0 || os < 0 {
		return nil
	}
	walker, err := v.Walker()
	if err != nil {
		return nil
	}
	return slices.Collect(walker.Walk(ctx, &threads[i], d.file.Threads()[os].Registers, o))
}
