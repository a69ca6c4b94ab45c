package stackwalk

import (
	"errors"
	"sync"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A codeMap tells the unwinder about all code of the process: that of the
// runtimes, and that of the modules. It implements unwind.CodeMap.
type codeMap struct {
	runtimes []*code.Reader
	native   *nativeCode
}

// FunctionAt is the code of the function that an address lies in, as its unwind data
// have it.
func (w *Walker) FunctionAt(ip target.Addr) (target.Range, bool) {
	if w.codes == nil {
		return target.Range{}, false
	}
	c, ok := w.codes.FindCode(ip)
	return c.Range, ok
}

// FunctionData is the address of the language specific data of the native function that
// an address lies in, false where there are none.
func (w *Walker) FunctionData(ip target.Addr) (target.Addr, bool) {
	if w.codes == nil {
		return 0, false
	}
	if m := w.codes.native.at(ip); m != nil {
		return m.Data(ip)
	}
	return 0, false
}

// FindCode implements unwind.CodeMap.
func (m *codeMap) FindCode(ip target.Addr) (unwind.Code, bool) {
	for _, rt := range m.runtimes {
		if info, err := rt.MethodAt(ip); err == nil && info.Kind != code.Stub {
			return managedCode(&info), true
		}
	}
	return m.native.FindCode(ip)
}

// InCode implements unwind.CodeMap.
func (m *codeMap) InCode(ip target.Addr) bool {
	if m.native.InCode(ip) {
		return true
	}
	for _, rt := range m.runtimes {
		_, err := rt.MethodAt(ip)
		if err == nil {
			return true
		}
		if errors.Is(err, target.ErrNotInDump) { // which method's the dump does not tell, but that compiled code is there
			if kind, err := rt.KindAt(ip); err == nil && kind == code.JIT {
				return true
			}
		}
	}
	return false
}

// managedCode is what the unwinder needs of managed code, whose unwind data
// have the format of Windows on every OS.
func managedCode(c *code.Info) unwind.Code {
	return unwind.Code{
		Range:  target.Range{Start: c.Function.Begin, End: c.Function.End},
		Format: unwind.FormatWindows, Base: c.Base, Info: c.Function.Unwind, Packed: c.Function.Packed,
	}
}

// nativeCode finds the unwind data of the process's modules. What it found is
// kept; it is safe for concurrent use.
type nativeCode struct {
	mem     target.Memory
	arch    target.Arch
	modules []target.Module // sorted by Base
	tables  []moduleCode    // beside modules
}

// moduleCode is the code of one module.
type moduleCode struct {
	once sync.Once
	code.Native
}

func newNativeCode(t target.Target, mem target.Memory) *nativeCode {
	mods := t.Modules()
	return &nativeCode{mem: mem, arch: t.Platform().Arch, modules: mods, tables: make([]moduleCode, len(mods))}
}

// module returns the module at a, nil for none.
func (n *nativeCode) module(a target.Addr) *target.Module {
	return target.ModuleAt(n.modules, a)
}

func (n *nativeCode) index(a target.Addr) int { return target.ModuleIndex(n.modules, a) }

// at returns the code of the module at a, nil for none.
func (n *nativeCode) at(a target.Addr) *moduleCode {
	i := n.index(a)
	if i < 0 {
		return nil
	}
	m := &n.tables[i]
	m.once.Do(func() { m.Native = code.OpenNative(n.mem, n.arch, &n.modules[i]) })
	return m
}

// FindCode finds native code and its unwind data.
func (n *nativeCode) FindCode(ip target.Addr) (unwind.Code, bool) {
	if m := n.at(ip); m != nil {
		return m.Find(ip)
	}
	return unwind.Code{}, false
}

// InCode reports whether ip is in the code of a module.
func (n *nativeCode) InCode(ip target.Addr) bool {
	m := n.at(ip)
	if m == nil {
		return false
	}
	for _, r := range m.Code {
		if r.Contains(ip) {
			return true
		}
	}
	return len(m.Code) == 0
}
