package unwind

import (
	"encoding/binary"
	"sort"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// DWARF is the call frame information of one image. It reads an FDE on first use and caches it. It
// is safe for concurrent use.
type DWARF struct {
	mem   target.Memory
	index func(pc target.Addr) (target.Addr, bool) // address of the FDE that may cover pc

	mu   sync.RWMutex
	fdes map[target.Addr]*fde
}

// OpenEHFrame opens the .eh_frame of an image in mem through its .eh_frame_hdr (PT_GNU_EH_FRAME),
// size bytes at hdr. The format is defined by the Linux Standard Base, "Exception Frames".
func OpenEHFrame(mem target.Memory, hdr target.Addr, size uint64) (*DWARF, error) {
	b, err := target.Bytes(mem, hdr, 12)
	if err != nil {
		return nil, err
	}
	// All linkers write version 1, a 4-byte relative pointer to .eh_frame, a 4-byte count, and a
	// table of 4-byte values relative to hdr.
	if b[0] != 1 || b[1] != 0x1b || b[2] != 0x03 || b[3] != 0x3b {
		return nil, target.Unsupportedf(".eh_frame_hdr %#x of the form % x", uint64(hdr), b[:4])
	}
	count := uint64(binary.LittleEndian.Uint32(b[8:]))
	if count > limits.FrameTableItems || size != 0 && count > (size-min(size, 12))/8 {
		return nil, target.Corruptf(".eh_frame_hdr %#x: %d entries in %d bytes", uint64(hdr), count, size)
	}
	d := &DWARF{mem: mem, fdes: map[target.Addr]*fde{}}
	d.index = func(pc target.Addr) (target.Addr, bool) {
		var fail bool
		entry := func(i int) (start, fde target.Addr) {
			e, err := target.Bytes(mem, hdr+12+8*target.Addr(i), 8)
			if err != nil {
				fail = true
				return 0, 0
			}
			return hdr + target.Addr(int32(binary.LittleEndian.Uint32(e))), hdr + target.Addr(int32(binary.LittleEndian.Uint32(e[4:])))
		}
		i := sort.Search(int(count), func(i int) bool { start, _ := entry(i); return start > pc }) - 1
		if i < 0 || fail {
			return 0, false
		}
		_, at := entry(i)
		return at, !fail
	}
	return d, nil
}

// Find returns the code that contains pc, and whether the table has it.
func (d *DWARF) Find(pc target.Addr) (Code, bool) {
	if d.index == nil {
		return Code{}, false
	}
	at, ok := d.index(pc)
	if !ok {
		return Code{}, false
	}
	return d.at(pc, at)
}

// at returns the code of the FDE at an address. It reports false unless the FDE covers pc.
func (d *DWARF) at(pc, at target.Addr) (Code, bool) {
	d.mu.RLock()
	f := d.fdes[at]
	d.mu.RUnlock()
	if f == nil {
		var err error
		if f, err = d.read(at); err != nil {
			f = &fde{err: err}
		}
		d.mu.Lock()
		d.fdes[at] = f
		d.mu.Unlock()
	}
	if f.err != nil || !f.code.Contains(pc) {
		return Code{}, false
	}
	return Code{Range: f.code, Format: FormatDWARF, fde: f}, true
}

// LSDA returns the address of the language specific data of the function that contains pc, and
// whether it has any. Compilers store data for their own unwinders there.
func (d *DWARF) LSDA(pc target.Addr) (target.Addr, bool) {
	if d.index == nil {
		return 0, false
	}
	at, ok := d.index(pc)
	if !ok {
		return 0, false
	}
	entry, err := d.entryBytes(at)
	if err != nil {
		return 0, false
	}
	cie, err := d.entryBytes(at + 4 - target.Addr(binary.LittleEndian.Uint32(entry[4:])))
	if err != nil {
		return 0, false
	}
	return lsda(cie, entry, at)
}

// entryBytes returns an entry with its length word.
func (d *DWARF) entryBytes(at target.Addr) ([]byte, error) {
	n, err := target.Uint32(d.mem, at)
	if err != nil {
		return nil, err
	}
	if n < 4 || n > limits.FDEBytes {
		return nil, target.Corruptf("call frame entry %#x of %d bytes", uint64(at), n)
	}
	return target.Bytes(d.mem, at, int(n)+4)
}

// read reads the FDE at an address and its CIE.
func (d *DWARF) read(at target.Addr) (*fde, error) {
	entry, err := d.entryBytes(at)
	if err != nil {
		return nil, err
	}
	link := binary.LittleEndian.Uint32(entry[4:])
	cieAt := at + 4 - target.Addr(link)
	if link == 0 {
		return nil, target.Corruptf("a CIE at %#x where an FDE should be", uint64(at))
	}
	cie, err := d.entryBytes(cieAt)
	if err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(cie[4:]) != 0 {
		return nil, target.Corruptf("the FDE at %#x names no CIE at %#x", uint64(at), uint64(cieAt))
	}
	return parseFDE(cie, entry, at)
}

// isSignalFrame reports whether a CIE's augmentation marks frames that the kernel pushed for a
// signal handler. Their caller was interrupted and did not make a call.
func isSignalFrame(augmentation string) bool { return strings.Contains(augmentation, "S") }

// dwarfAMD64 are the registers of x64 in DWARF's order (System V ABI for x86-64, figure 3.36).
var dwarfAMD64 = [...]target.Reg{target.RAX, target.RDX, target.RCX, target.RBX, target.RSI, target.RDI, target.RBP, target.RSP,
	target.R8, target.R9, target.R10, target.R11, target.R12, target.R13, target.R14, target.R15, target.RIP}

func fromDWARF(arch target.Arch, n uint64) (target.Reg, bool) {
	if arch == target.ArchARM64 {
		return target.Reg(n), n <= 31
	}
	if n < uint64(len(dwarfAMD64)) {
		return dwarfAMD64[n], true
	}
	return 0, false
}

// vectorFromDWARF returns the vector register with a DWARF number, on processors that preserve some
// (DWARF for the Arm 64-bit Architecture, 4.1).
func vectorFromDWARF(arch target.Arch, n uint64) (int, bool) {
	const first = 64
	return int(n) - first, arch == target.ArchARM64 && n >= first && n < first+32
}

// volatileDWARF returns the registers that a call destroys, assuming that code with call frame
// information preserves only what every convention requires. It does not include the link register,
// which holds the return address if it has no rule.
func volatileDWARF(arch target.Arch) target.RegSet {
	p, err := arch.Processor()
	if err != nil {
		return 0
	}
	return p.General &^ (p.Preserved | target.Regs(p.SP, p.Link))
}

// stepDWARF applies the rules of the row for the instruction pointer.
func (c *Cursor) stepDWARF(f *Frame, exact bool) error {
	d := f.Code.fde
	processor, err := f.Regs.Arch.Processor()
	if err != nil {
		return err
	}
	at, _ := f.Regs.IP()
	if !exact && !d.signal { // the address in a signal frame is always exact
		at--
	}
	row, err := d.row(uint64(at))
	if err != nil {
		return err
	}
	cfa, err := c.cfa(f, row)
	if err != nil {
		return err
	}
	out := f.Regs
	volatile := volatileDWARF(f.Regs.Arch)
	if !d.signal {
		for r := range volatile.All {
			out.Forget(r)
		}
	}
	if d.signal {
		out.ForgetVectors()
	}
	out.SetSP(target.Addr(cfa))
	returned := false
	for i := range row.rules {
		rule := &row.rules[i]
		v, known, err := c.rule(f, rule, cfa)
		if err != nil {
			return err
		}
		if rule.reg == d.returnReg {
			if !known && exact && processor.Link != target.NoReg {
				continue // DW_CFA_restore in an epilogue: the link register holds the address again
			}
			if returned = true; !known {
				return errEnd
			}
			out.SetIP(f.Regs.Code(v))
			continue
		}
		if r, ok := fromDWARF(f.Regs.Arch, rule.reg); ok {
			switch {
			case known:
				out.Set(r, v)
			case volatile.Has(r):
				// A preserved register without a value has a rule that DW_CFA_restore reset: delve
				// calls it undefined.
				out.Forget(r)
			}
		} else if n, ok := vectorFromDWARF(f.Regs.Arch, rule.reg); ok && rule.kind != ruleSame {
			if known {
				out.SetVectorLow(n, v)
			} else {
				out.ForgetVectorLow(n)
			}
		}
	}
	if !returned {
		lr, ok := f.Regs.Get(processor.Link)
		if !ok {
			return target.Corruptf("no rule for the return address at %#x", uint64(at))
		}
		out.SetIP(f.Regs.Code(lr))
	}
	if ip, _ := out.IP(); processor.Link != target.NoReg && !d.signal {
		out.Set(processor.Link, uint64(ip)) // its value after the return
	}
	if sp, _ := f.Regs.SP(); !d.signal && target.Addr(cfa) > sp {
		// The return address of a call is right below. Rules that never read the stack would not
		// end.
		if _, err := c.win.Uint64(target.Addr(cfa - 8)); err != nil {
			return err
		}
	}
	f.Regs, f.Exact = out, d.signal
	return nil
}

// cfa computes the canonical frame address.
func (c *Cursor) cfa(f *Frame, row *dwarfRow) (uint64, error) {
	if row.cfa.kind == ruleValExpression || row.cfa.kind == ruleExpression {
		return c.expression(f, row.cfa.expr, 0, false)
	}
	r, ok := fromDWARF(f.Regs.Arch, row.cfa.other)
	v, known := f.Regs.Get(r)
	if row.cfa.kind != ruleCFA || !ok || !known {
		return 0, target.Unsupportedf("the canonical frame address needs register %d", row.cfa.other)
	}
	return v + uint64(row.cfa.offset), nil
}

// rule computes a register of the caller. known is false if the rule makes it unknown.
func (c *Cursor) rule(f *Frame, r *dwarfRule, cfa uint64) (v uint64, known bool, err error) {
	switch r.kind {
	case ruleUndefined:
		return 0, false, nil
	case ruleSame:
		if reg, ok := fromDWARF(f.Regs.Arch, r.reg); ok {
			v, known = f.Regs.Get(reg)
		}
		return v, known, nil
	case ruleOffset:
		v, err = c.win.Uint64(target.Addr(cfa + uint64(r.offset)))
		return v, err == nil, err
	case ruleRegister:
		if reg, ok := fromDWARF(f.Regs.Arch, r.other); ok {
			v, known = f.Regs.Get(reg)
		}
		return v, known, nil
	case ruleExpression:
		if v, err = c.expression(f, r.expr, cfa, true); err == nil {
			v, err = c.win.Uint64(target.Addr(v))
		}
		return v, err == nil, err
	case ruleValExpression:
		v, err = c.expression(f, r.expr, cfa, true)
		return v, err == nil, err
	}
	return 0, false, target.Unsupportedf("call frame rule %d", r.kind)
}
