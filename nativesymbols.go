package sosgo

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Symbols names native code by what the process's modules export, and the methods of
// NativeAOT programs by the names that these keep for their stack traces.
func (d *Dump) Symbols() *image.Symbols {
	s := image.NewSymbols(d.read, d.file.Modules())
	for _, inst := range d.Runtimes() {
		if inst.Flavor != dac.FlavorNativeAOT {
			continue
		}
		v := d.viewOf(inst)
		if rt, err := v.Runtime(); err == nil {
			s.AlsoNamed(v.methodNamer(rt))
		}
	}
	return s
}

// methodNamer names the methods of a NativeAOT program. A name is one of where a method begins: where the code
// at an address does, its unwind data tell, of a funclet with the data behind them.
func (v *View) methodNamer(rt *dac.Runtime) func(target.Addr) (string, target.Addr) {
	w := v.NativeWalker()
	return func(a target.Addr) (string, target.Addr) {
		if !rt.Instance().Module.Contains(a) {
			return "", 0
		}
		function, ok := w.FunctionAt(a)
		if !ok {
			return "", 0
		}
		start := function.Start
		if data, ok := w.FunctionData(a); ok {
			if main, err := rt.MethodOfFunclet(start, data); err == nil {
				start = main
			}
		}
		name, err := rt.CodeName(start)
		if err != nil {
			return "", 0 // a program that was compiled without names has code without names
		}
		return name, start
	}
}
