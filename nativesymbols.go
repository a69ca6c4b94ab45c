package sosgo

import (
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// Symbols names native code by what the process's modules export, and the methods of
// NativeAOT programs by the names that these keep for their stack traces.
func (d *Dump) Symbols() *image.Symbols {
	d = d.orNone()
	s := image.NewSymbols(d.read, d.file.Modules())
	for _, inst := range d.Runtimes() {
		if inst.Flavor != dac.FlavorNativeAOT {
			continue
		}
		if rt, err := d.viewOf(inst).Runtime(); err == nil {
			s.AlsoNamed(methodNamer(rt))
		}
	}
	return s
}

// methodNamer names the methods of a NativeAOT program.
func methodNamer(rt *dac.Runtime) func(target.Addr) (string, target.Addr) {
	return func(a target.Addr) (string, target.Addr) {
		m, err := code.Of(rt).NativeAt(a)
		if err != nil {
			return "", 0 // what can't be read has no name
		}
		return m.Name, m.Start
	}
}
