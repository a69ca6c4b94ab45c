// Package nativecode finds the native code of an image, and what its unwind data record about an address. Start at Open.
package nativecode

import (
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/target"
)

// Code describes the native code of an image: its ranges and its unwind data. It is safe for concurrent use.
type Code struct {
	Ranges []target.Range // executable; empty if the headers are missing

	dwarf   *unwind.DWARF
	compact *unwind.Compact
	pdata   *unwind.PData
	entry   target.Range // code at which the system starts the program
	lost    error        // why headers or unwind data could not be opened
}

// entryBytes bounds the code at which the system starts a program (_start of C libraries: 38 bytes on x64, 60
// on ARM64).
const entryBytes = 64

// Open locates the code and unwind data of a module. It omits unreadable parts; an unwinder must guess
// without them.
func Open(mem target.Memory, arch target.Arch, mod *target.Module) Code {
	var n Code
	img, err := image.OpenMemory(mem, mod)
	if err != nil {
		n.lost = err
		return n
	}
	for _, s := range img.Sections() {
		if a, err := img.Address(s.RVA); err == nil && s.Prot&target.ProtExec != 0 {
			n.Ranges = append(n.Ranges, target.RangeAt(a, s.Size))
		}
	}
	if d := img.EHFrameHeader(); d.Size > 0 {
		if a, err := img.Address(d.RVA); err == nil {
			n.dwarf, n.lost = unwind.OpenEHFrame(mem, a, d.Size)
		}
	}
	if compact, frames := img.CompactUnwind(); compact.Size > 0 {
		at, err1 := img.Address(compact.RVA)
		eh, err2 := img.Address(frames.RVA)
		if err1 == nil && err2 == nil {
			n.compact, n.lost = unwind.OpenCompact(mem, arch, img.Base(), target.RangeAt(at, compact.Size),
				target.RangeAt(eh, frames.Size))
		}
	}
	if rva, ok := img.ProgramEntry(); ok {
		if a, err := img.Address(rva); err == nil {
			n.entry = target.RangeAt(a, uint64(entryBytes))
		}
	}
	if d := img.ExceptionDirectory(); d.Size > 0 {
		if a, err := img.Address(d.RVA); err == nil {
			n.pdata = unwind.OpenPData(mem, arch, img.Base(), target.RangeAt(a, d.Size))
		}
	}
	return n
}

// Find returns the code that the unwind data record for an address, or false. On some systems the code at which
// a program starts has no unwind data.
func (n *Code) Find(ip target.Addr) (code unwind.Code, ok bool) {
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

// Lacks returns why Find finds nothing at an address: headers or tables that can't be read. It returns nil if there are
// no data for the address.
func (n *Code) Lacks(ip target.Addr) error {
	if n.lost == nil && n.pdata != nil {
		return n.pdata.Err(ip)
	}
	return n.lost
}

// Data returns the address of the language-specific data of the function at an address, or false without such
// data.
func (n *Code) Data(ip target.Addr) (target.Addr, bool) {
	if n.dwarf == nil {
		return 0, false
	}
	return n.dwarf.LSDA(ip)
}

// HasFunctionTable reports whether the image has a table of runtime functions (.pdata).
func (n *Code) HasFunctionTable() bool { return n.pdata != nil }
