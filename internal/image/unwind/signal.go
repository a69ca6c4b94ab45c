package unwind

import (
	"bytes"

	"github.com/sosgo/sosgo/target"
)

// signal replaces f, the code that a signal handler returns to, with the interrupted code, if no
// unwind data describe f: some C libraries (musl) have none, and a core without the pages of files
// has none at all. The instructions prove it; if they are not in the dump, the form of the kernel's
// frame at the stack pointer does.
func (c *Cursor) signal(f *Frame) bool {
	layout := f.Regs.Arch.SignalContext()
	ip, known := f.Regs.IP()
	sp, ok := f.Regs.SP()
	if layout == nil || !known || !ok {
		return false
	}
	if code, err := target.Bytes(c.u.mem, ip, len(layout.Return)); err == nil && !bytes.Equal(code, layout.Return) {
		return false
	}
	regs, ok := SignalContext(c.win, f.Regs.Arch, sp+target.Addr(layout.AboveSP))
	if !ok {
		return false
	}
	regs.Signature = f.Regs.Signature
	f.Regs, f.Trust, f.Exact, f.Err = regs, TrustUnwind, true, nil
	return true
}

// SignalContext reads the registers of interrupted code from the kernel's frame at a. It reports
// false if there is no such frame.
func SignalContext(w *target.Window, arch target.Arch, a target.Addr) (target.Registers, bool) {
	layout := arch.SignalContext()
	if layout == nil {
		return target.Registers{}, false
	}
	b, err := w.Bytes(a, layout.Size)
	if err != nil {
		return target.Registers{}, false
	}
	regs, ok := layout.Registers(arch, b, a)
	if p, err := arch.Processor(); ok && err == nil && layout.Float > 0 {
		if b, err := w.Bytes(a+target.Addr(layout.Float), p.Vectors.Size); err == nil {
			regs.Float = bytes.Clone(b)
		}
	}
	return regs, ok
}
