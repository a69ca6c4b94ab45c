package stackwalk

import (
	"errors"
	"sort"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/image/nativecode"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// A codeMap describes all code of the process to the unwinder: the code of runtimes and of modules. It implements
// unwind.CodeMap.
type codeMap struct {
	runtimes []*dac.CodeReader
	native   *nativeCode
}

// FindCode implements unwind.CodeMap.
func (m *codeMap) FindCode(ip target.Addr) (unwind.Code, bool) {
	for _, rt := range m.runtimes {
		if info, err := rt.MethodAt(ip); err == nil && info.Kind != dac.CodeStub {
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
	if len(m.runtimes) == 0 && m.native.module(ip) == nil {
		x := m.native.mapped() // code that a program compiles at run time is in no module
		return x.contains(ip)
	}
	for _, rt := range m.runtimes {
		_, err := rt.MethodAt(ip)
		if err == nil {
			return true
		}
		if errors.Is(err, target.ErrNotInDump) { // compiled code, but its method is not in the dump
			if kind, err := rt.KindAt(ip); err == nil && kind == dac.CodeJIT {
				return true
			}
		}
	}
	return false
}

// Lacks returns why FindCode finds nothing at ip, or nil.
func (m *codeMap) Lacks(ip target.Addr) error {
	if c := m.native.codeAt(ip); c != nil {
		if err := c.Lacks(ip); target.ReportedKind(err) == target.ErrNotInDump {
			return &missingImage{target.BaseName(m.native.module(ip).Path)}
		}
	}
	return nil
}

// A missingImage is the name of an image with unwind data that are not in the dump.
type missingImage struct{ name string }

func (e *missingImage) Error() string { return "the unwind data of " + e.name + " are not in the dump" }

func (*missingImage) Unwrap() error { return target.ErrNotInDump }

// Advice names the file that has the data.
func (e *missingImage) Advice() string {
	return "stacks go on with " + e.name + " of the process: --modules DIR names its folder, --symbol-server URL a server that has it"
}

// managedCode returns managed code in the unwinder's form. Its unwind data have the format of Windows on every OS.
func managedCode(c *dac.CodeInfo) unwind.Code {
	return unwind.Code{
		Range:  target.Range{Start: c.Function.Begin, End: c.Function.End},
		Format: unwind.FormatWindows, Base: c.Base, Info: c.Function.Unwind, Packed: c.Function.Packed, Managed: true,
	}
}

// A nativeCode finds the unwind data of the process's modules. It caches them and is safe for concurrent use.
type nativeCode struct {
	mem     target.Memory
	arch    target.Arch
	modules []target.Module // sorted by Base
	tables  []moduleCode    // parallel to modules
	mapped  func() executable
}

// An executable is what the dump records about executable memory.
type executable struct {
	known  bool           // the dump also records the protection of memory that it does not hold
	ranges []target.Range // executable and not writable, by address
}

// executableIn lists the executable memory of t. It omits writable memory, because pages of data may be executable too.
func executableIn(t target.Target) executable {
	var x executable
	for r := range t.Regions() {
		x.known = x.known || r.Prot&target.ProtExec != 0 && r.Stored < r.Size
		if r.Prot&(target.ProtExec|target.ProtWrite) == target.ProtExec {
			x.ranges = append(x.ranges, target.RangeAt(r.Start, r.Size))
		}
	}
	return x
}

func (x *executable) contains(a target.Addr) bool {
	i := sort.Search(len(x.ranges), func(i int) bool { return x.ranges[i].End > a })
	return i < len(x.ranges) && x.ranges[i].Contains(a)
}

// generated is the file that holds the code that the runtime generates: compiled methods and stubs. The runtime maps
// the file twice, executable and writable (minipal/Unix/doublemapping.cpp of .NET 7 and later, memfd_create).
const generated = "/memfd:doublemapper"

// IsGenerated reports whether m is a part of the file of generated code. The kernel lists that file as deleted.
func IsGenerated(m *target.Module) bool {
	return m != nil && strings.TrimSuffix(m.Path, " (deleted)") == generated
}

// moduleCode is the code of one module.
type moduleCode struct {
	once sync.Once
	nativecode.Code
}

func newNativeCode(t target.Target, mem target.Memory) *nativeCode {
	mods := t.Modules()
	return &nativeCode{mem: mem, arch: t.Platform().Arch, modules: mods, tables: make([]moduleCode, len(mods)),
		mapped: sync.OnceValue(func() executable { return executableIn(t) })}
}

// module returns the module at a, or nil.
func (n *nativeCode) module(a target.Addr) *target.Module {
	return target.ModuleAt(n.modules, a)
}

func (n *nativeCode) index(a target.Addr) int { return target.ModuleIndex(n.modules, a) }

// codeAt returns the code of the module at a, or nil.
func (n *nativeCode) codeAt(a target.Addr) *moduleCode {
	i := n.index(a)
	if i < 0 {
		return nil
	}
	m := &n.tables[i]
	m.once.Do(func() { m.Code = nativecode.Open(n.mem, n.arch, &n.modules[i]) })
	return m
}

// FindCode finds native code and its unwind data.
func (n *nativeCode) FindCode(ip target.Addr) (unwind.Code, bool) {
	if m := n.codeAt(ip); m != nil {
		return m.Find(ip)
	}
	return unwind.Code{}, false
}

// InCode reports whether ip is in the code of a module. If the module's headers are unreadable, the dump's record of
// executable memory decides.
func (n *nativeCode) InCode(ip target.Addr) bool {
	m := n.codeAt(ip)
	if m == nil {
		return false
	}
	if x := n.mapped(); len(m.Ranges) == 0 && x.known {
		return x.contains(ip)
	}
	for _, r := range m.Ranges {
		if r.Contains(ip) {
			return true
		}
	}
	return len(m.Ranges) == 0
}
