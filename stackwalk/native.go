package stackwalk

import (
	"sync"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
	"github.com/sosgo/sosgo/unwind"
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
	if m := w.codes.native.at(ip); m != nil && m.dwarf != nil {
		return m.dwarf.LSDA(ip)
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
		if _, err := rt.MethodAt(ip); err == nil {
			return true
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
	once  sync.Once
	code  []target.Range // executable; empty where the headers are missing
	dwarf *unwind.DWARF
	pdata *unwind.PData
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
	m.once.Do(func() { m.open(n, &n.modules[i]) })
	return m
}

// open reads where the module has code and unwind data. What can't be read is
// left out: the unwinder falls back then.
func (m *moduleCode) open(n *nativeCode, mod *target.Module) {
	mem := n.mem
	img, err := image.OpenMemory(mem, mod)
	if err != nil {
		return
	}
	for _, s := range img.Sections() {
		if a, err := img.Address(s.RVA); err == nil && s.Prot&target.ProtExec != 0 {
			m.code = append(m.code, target.Range{Start: a, End: a + target.Addr(s.Size)})
		}
	}
	if d := img.EHFrameHeader(); d.Size > 0 {
		if a, err := img.Address(d.RVA); err == nil {
			m.dwarf, _ = unwind.OpenEHFrame(mem, a, d.Size)
		}
	}
	if d := img.ExceptionDirectory(); d.Size > 0 {
		if a, err := img.Address(d.RVA); err == nil {
			m.pdata = unwind.OpenPData(mem, n.arch, img.Base(), target.Range{Start: a, End: a + target.Addr(d.Size)})
		}
	}
}

// FindCode finds native code and its unwind data.
func (n *nativeCode) FindCode(ip target.Addr) (unwind.Code, bool) {
	m := n.at(ip)
	switch {
	case m == nil:
	case m.dwarf != nil:
		return m.dwarf.Find(ip)
	case m.pdata != nil:
		return m.pdata.Find(ip)
	}
	return unwind.Code{}, false
}

// InCode reports whether ip is in the code of a module.
func (n *nativeCode) InCode(ip target.Addr) bool {
	m := n.at(ip)
	if m == nil {
		return false
	}
	for _, r := range m.code {
		if r.Contains(ip) {
			return true
		}
	}
	return len(m.code) == 0
}
