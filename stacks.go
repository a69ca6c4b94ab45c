package sosgo

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/stackscan"
)

// StackWalker walks the stacks of the chosen runtime's threads. Code of the
// other runtimes in the process is unwound through.
func (d *Dump) StackWalker() (*stackscan.Walker, error) {
	v, err := d.view()
	if err != nil {
		return nil, err
	}
	return v.walker.get(func() (*stackscan.Walker, error) {
		rt, err := v.runtime.get(v.inst.Open)
		if err != nil {
			return nil, err
		}
		return stackscan.NewWalker(rt, d.otherRuntimes(v)...), nil
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
