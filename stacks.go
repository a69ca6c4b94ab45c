package sosgo

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// StackWalker walks the stacks of the chosen runtime's threads. Code of the
// other runtimes in the process is unwound through.
func (d *Dump) StackWalker() (*stackwalk.Walker, error) {
	v, err := d.view()
	if err != nil {
		return nil, err
	}
	return v.walker.get(func() (*stackwalk.Walker, error) {
		rt, err := v.runtime.get(v.inst.Open)
		if err != nil {
			return nil, err
		}
		return stackwalk.NewWalker(rt, d.otherRuntimes(v)...), nil
	})
}

// otherRuntimes opens the CLRs beside v's; one that can't be opened is left
// out, and its code is like any other native code.
func (d *Dump) otherRuntimes(v *view) []*dac.Runtime {
	var out []*dac.Runtime
	for _, inst := range d.Runtimes() {
		if inst == v.inst || inst.Flavor != dac.FlavorCoreCLR {
			continue
		}
		d.mu.Lock()
		o := d.viewOf(inst)
		d.mu.Unlock()
		if rt, err := o.runtime.get(inst.Open); err == nil {
			out = append(out, rt)
		}
	}
	return out
}

// SeveralRuntimes reports whether the process has more than one CLR and none was
// chosen, so that stacks are best shown through all of them.
func (d *Dump) SeveralRuntimes() bool {
	d.mu.Lock()
	want := d.want
	d.mu.Unlock()
	n := 0
	for _, inst := range d.Runtimes() {
		if inst.Flavor == dac.FlavorCoreCLR {
			n++
		}
	}
	return want == "" && n > 1
}

// MergedWalk walks the stack of an OS thread through all CLRs of the process:
// each runtime walks its own frames, and they are stitched by stack pointer, a
// runtime's explicit frames before what they stand on. With several CLRs every
// frame names its Runtime. A walk that ends early ends with a frame whose Err
// says why; the others go on.
func (d *Dump) MergedWalk(osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame] {
	return func(yield func(stackwalk.Frame) bool) {
		var all []stackwalk.Frame
		for _, inst := range d.Runtimes() {
			if inst.Flavor == dac.FlavorCoreCLR {
				all = append(all, d.framesOf(inst, osThread, o)...)
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
func (d *Dump) framesOf(inst *dac.Instance, osThread uint32, o stackwalk.WalkOptions) []stackwalk.Frame {
	d.mu.Lock()
	v := d.viewOf(inst)
	d.mu.Unlock()
	rt, err := v.runtime.get(inst.Open)
	if err != nil {
		return nil // Runtime and doctor tell why
	}
	threads, _ := rt.Threads() // as many as there are
	i := slices.IndexFunc(threads, func(t dac.Thread) bool { return t.OSID == osThread })
	os := slices.IndexFunc(d.file.Threads(), func(t target.Thread) bool { return t.ID == osThread })
	if i < 0 || os < 0 {
		return nil
	}
	walker, err := v.walker.get(func() (*stackwalk.Walker, error) {
		return stackwalk.NewWalker(rt, d.otherRuntimes(v)...), nil
	})
	if err != nil {
		return nil
	}
	return slices.Collect(walker.Walk(&threads[i], d.file.Threads()[os].Registers, o))
}
