package code

import (
	"errors"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/image/codeinfo"
	"github.com/sosgo/sosgo/image/unwind"
	"github.com/sosgo/sosgo/internal/limits"
	"github.com/sosgo/sosgo/target"
)

// Native is the native code of an image: where it is, and its unwind data. It is safe for concurrent use.
type Native struct {
	Code []target.Range // executable; empty where the headers are missing

	dwarf *unwind.DWARF
	pdata *unwind.PData
	entry target.Range // where the system starts the program
}

// entryBytes are the most that the code takes at which the system starts a program (_start of C libraries: 38 bytes on x64, 60
// on ARM64).
const entryBytes = 64

// OpenNative reads where a module has code and unwind data. What can't be read is left out: who unwinds falls back then.
func OpenNative(mem target.Memory, arch target.Arch, mod *target.Module) Native {
	var n Native
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

// Find is the code that an address lies in, as the unwind data have it, false where they have none. The code at which a
// program starts has none on some systems.
func (n *Native) Find(ip target.Addr) (code unwind.Code, ok bool) {
	switch {
	case n.dwarf != nil:
		code, ok = n.dwarf.Find(ip)
	case n.pdata != nil:
		code, ok = n.pdata.Find(ip)
	}
	if (!ok || code.Format == unwind.FormatNone) && n.entry.Contains(ip) {
		return unwind.Code{Range: n.entry, Format: unwind.FormatEntry}, true
	}
	return code, ok
}

// Data is the address of the language specific data of the function that an address lies in, false where there are none.
func (n *Native) Data(ip target.Addr) (target.Addr, bool) {
	if n.dwarf == nil {
		return 0, false
	}
	return n.dwarf.LSDA(ip)
}

// A NativeMethod is the method of a NativeAOT program that an address lies in.
type NativeMethod struct {
	Name  string      // as the program's stack traces have it: Ns.Type.Method(Int32, String); empty where nothing tells
	Start target.Addr // where its code begins: that of the method itself, also in a part of it such as a catch block
}

// NativeAt tells in which method of a NativeAOT program an address lies. Where the method begins the unwind data tell, of a part
// of it, such as a catch block, with the data behind them. An address outside of the program's code is ErrNoCode; a
// program that was compiled without names for its methods has methods without names.
func (r *Reader) NativeAt(ip target.Addr) (NativeMethod, error) {
	inst := r.rt.Instance()
	if !r.rt.IsNative() || !inst.Module.Contains(ip) {
		return NativeMethod{}, ErrNoCode
	}
	n, _ := r.native.Get(func() (*Native, error) {
		n := OpenNative(r.mem, r.rt.Target().Platform().Arch, &inst.Module)
		return &n, nil
	})
	found, ok := n.Find(ip)
	if !ok || found.Range.Start == 0 {
		return NativeMethod{}, ErrNoCode
	}
	m := NativeMethod{Start: found.Range.Start}
	if data, ok := n.Data(ip); ok {
		if main, err := r.rt.MethodOfFunclet(m.Start, data); err == nil {
			m.Start = main
		}
	} else if n.pdata != nil {
		m.Start = r.beforeFunclets(n, found)
	}
	name, err := r.rt.CodeName(m.Start)
	if err != nil && !errors.Is(err, target.ErrUnsupported) {
		return m, err
	}
	m.Name = name
	return m, nil
}

// beforeFunclets is where the method begins that code of a PE image is a funclet of: the code before it that is none. What code is
// stands behind its unwind data (CoffNativeCodeManager.cpp). The compiler leaves no gap between a method and its funclets.
// Code that this is not true of is its own method.
func (r *Reader) beforeFunclets(n *Native, c unwind.Code) target.Addr {
	const kindMask, handler, filter = 3, 1, 2
	at := c
	for range limits.Funclets {
		if at.Format != unwind.FormatWindows || at.Info == 0 {
			break
		}
		size, err := codeinfo.UnwindInfoEnd(r.mem, r.rt.Target().Platform().Arch, at.Info)
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
