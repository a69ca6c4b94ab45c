package dac

import (
	"errors"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// NativeCode describes the native code of an image: its ranges and its unwind data. It is safe for concurrent use.
type NativeCode struct {
	Code []target.Range // executable; empty if the headers are missing

	dwarf   *unwind.DWARF
	compact *unwind.Compact
	pdata   *unwind.PData
	entry   target.Range // code at which the system starts the program
}

// entryBytes bounds the code at which the system starts a program (_start of C libraries: 38 bytes on x64, 60
// on ARM64).
const entryBytes = 64

// OpenNative locates the code and unwind data of a module. It omits unreadable parts; an unwinder must guess
// without them.
func OpenNative(mem target.Memory, arch target.Arch, mod *target.Module) NativeCode {
	var n NativeCode
	img, err := image.OpenMemory(mem, mod)
	if err != nil {
		return n
	}
	for _, s := range img.Sections() {
		if a, err := img.Address(s.RVA); err == nil && s.Prot&target.ProtExec != 0 {
			n.Code = append(n.Code, target.Range{Start: a, End: a + target.Addr(s.Size)})
		}
	}
	if d := img.EHFrameHeader(); d.Size > 0 {
		if a, err := img.Address(d.RVA); err == nil {
			n.dwarf, _ = unwind.OpenEHFrame(mem, a, d.Size)
		}
	}
	if compact, frames := img.CompactUnwind(); compact.Size > 0 {
		at, err1 := img.Address(compact.RVA)
		eh, err2 := img.Address(frames.RVA)
		if err1 == nil && err2 == nil {
			n.compact, _ = unwind.OpenCompact(mem, arch, img.Base(), target.Range{Start: at, End: at + target.Addr(compact.Size)},
				target.Range{Start: eh, End: eh + target.Addr(frames.Size)})
		}
	}
	if rva, ok := img.ProgramEntry(); ok {
		if a, err := img.Address(rva); err == nil {
			n.entry = target.Range{Start: a, End: a + entryBytes}
		}
	}
	if d := img.ExceptionDirectory(); d.Size > 0 {
		if a, err := img.Address(d.RVA); err == nil {
			n.pdata = unwind.OpenPData(mem, arch, img.Base(), target.Range{Start: a, End: a + target.Addr(d.Size)})
		}
	}
	return n
}

// Find returns the code that the unwind data record for an address, or false. On some systems the code at which
// a program starts has no unwind data.
func (n *NativeCode) Find(ip target.Addr) (code unwind.Code, ok bool) {
	switch {
	case n.dwarf != nil:
		code, ok = n.dwarf.Find(ip)
	case n.compact != nil:
		code, ok = n.compact.Find(ip)
	case n.pdata != nil:
		code, ok = n.pdata.Find(ip)
	}
	if (!ok || code.Format == unwind.FormatNone) && n.entry.Contains(ip) {
		return unwind.Code{Range: n.entry, Format: unwind.FormatEntry}, true
	}
	return code, ok
}

// Data returns the address of the language-specific data of the function at an address, or false without such
// data.
func (n *NativeCode) Data(ip target.Addr) (target.Addr, bool) {
	if n.dwarf == nil {
		return 0, false
	}
	return n.dwarf.LSDA(ip)
}

// A NativeMethod is a method of a NativeAOT program.
type NativeMethod struct {
	Name  string      // as in the program's stack traces: Ns.Type.Method(Int32, String); "" if unknown
	Start target.Addr // start of the method itself, even for an address in a funclet
}

// NativeAt returns the method of a NativeAOT program at an address. The unwind data locate the method's start;
// for a funclet, such as a catch block, the data after them do. It returns ErrNoCode for an address outside the
// program's code. Name is "" in a program compiled without method names.
func (r *CodeReader) NativeAt(ip target.Addr) (NativeMethod, error) {
	inst := r.Runtime().Instance()
	if r.Runtime().Check(FeatureMethods) == nil || !inst.Module.Contains(ip) {
		return NativeMethod{}, ErrNoCode
	}
	n, _ := r.native.Get(func() (*NativeCode, error) {
		n := OpenNative(r.mem, r.Runtime().Target().Platform().Arch, &inst.Module)
		return &n, nil
	})
	found, ok := n.Find(ip)
	if !ok || found.Range.Start == 0 {
		return NativeMethod{}, ErrNoCode
	}
	m := NativeMethod{Start: found.Range.Start}
	if data, ok := n.Data(ip); ok {
		if main, err := r.Runtime().MethodOfFunclet(m.Start, data); err == nil {
			m.Start = main
		}
	} else if n.pdata != nil {
		m.Start = r.beforeFunclets(n, found)
	}
	name, err := r.Runtime().CodeName(m.Start)
	if err != nil && !errors.Is(err, target.ErrUnsupported) {
		return m, err
	}
	m.Name = name
	return m, nil
}

// beforeFunclets returns the method of a funclet in a PE image: the nearest code before it that is not a
// funclet. The kind of code is recorded after its unwind data (CoffNativeCodeManager.cpp). The compiler leaves
// no gap between a method and its funclets; code after a gap counts as a method.
func (r *CodeReader) beforeFunclets(n *NativeCode, c unwind.Code) target.Addr {
	const kindMask, handler, filter = 3, 1, 2
	at := c
	for range limits.Funclets {
		if at.Format != unwind.FormatWindows || at.Info == 0 {
			break
		}
		size, err := codeinfo.UnwindInfoEnd(r.mem, r.Runtime().Target().Platform().Arch, at.Info)
		if err != nil {
			break
		}
		flags, err := target.Uint8(r.mem, at.Info+target.Addr(size))
		if err != nil {
			break
		}
		switch flags & kindMask {
		case handler, filter:
			before, ok := n.pdata.Find(at.Range.Start - 1)
			if !ok || before.Range.End != at.Range.Start {
				return c.Range.Start
			}
			at = before
		case 0:
			return at.Range.Start
		default:
			return c.Range.Start
		}
	}
	return c.Range.Start
}
