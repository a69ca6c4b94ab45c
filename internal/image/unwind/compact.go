package unwind

import (
	"encoding/binary"
	"sort"

	"github.com/sosgo/sosgo/target"
)

// Compact is the compact unwind information of a Mach-O image, its section __unwind_info
// (mach-o/compact_unwind_encoding.h of Apple's libunwind). It is safe for concurrent use.
type Compact struct {
	base   target.Addr // the image's header, the base of function offsets
	arch   target.Arch
	b      []byte // the section
	common []byte // encodings that all pages share
	index  []byte // entries by the first function of their pages; the last entry only marks the end
	frames target.Range
	dwarf  *DWARF // for functions that need call frame information
}

// Sizes and numbers of the section's structures.
const (
	compactHeader      = 28
	compactIndexEntry  = 12 // function, page, language-specific data
	compactRegularPage = 2
	compactPackedPage  = 3
)

// maxCompact is the maximum size of a section in bytes, and maxCompactFrame of a frame.
const maxCompact, maxCompactFrame = 64 << 20, 1 << 30

// OpenCompact opens the section of an image at base. frames is the image's section __eh_frame, or
// empty.
func OpenCompact(mem target.Memory, arch target.Arch, base target.Addr, section, frames target.Range) (*Compact, error) {
	if section.Size() > maxCompact {
		return nil, target.Corruptf("compact unwind information of %d bytes", section.Size())
	}
	b, err := target.Bytes(mem, section.Start, int(section.Size()))
	if err != nil {
		return nil, err
	}
	if len(b) < compactHeader {
		return nil, target.Corruptf("compact unwind information of %d bytes", len(b))
	}
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	if v := word(0); v != 1 {
		return nil, target.Unsupportedf("compact unwind information of version %d", v)
	}
	c := &Compact{base: base, arch: arch, b: b, frames: frames, dwarf: &DWARF{mem: mem, fdes: map[target.Addr]*fde{}}}
	var ok, found bool
	c.common, ok = c.part(word(1), word(2), 4)
	c.index, found = c.part(word(5), word(6), compactIndexEntry)
	if !ok || !found || len(c.index) == 0 {
		return nil, target.Corruptf("compact unwind information: %d encodings and %d pages in %d bytes", word(2), word(6), len(b))
	}
	return c, nil
}

// part returns count items of a size at an offset of the section. It reports false if they are not
// inside of it.
func (c *Compact) part(off, count uint32, size int) ([]byte, bool) {
	n := uint64(count) * uint64(size)
	if uint64(off) > uint64(len(c.b)) || n > uint64(len(c.b))-uint64(off) {
		return nil, false
	}
	return c.b[off:][:n:n], true
}

// lastBefore returns the index of the last item in b that begins at or before an offset, or -1. The
// begin of an item is its first word, masked with mask.
func lastBefore(b []byte, size int, mask, offset uint32) int {
	n := len(b) / size
	return sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(b[size*i:])&mask > offset }) - 1
}

// Find returns the code at ip. It reports false between functions, and for a function without an
// encoding.
func (c *Compact) Find(ip target.Addr) (Code, bool) {
	if ip < c.base || uint64(ip-c.base) > 1<<32-1 {
		return Code{}, false
	}
	at := uint32(ip - c.base)
	k := lastBefore(c.index, compactIndexEntry, ^uint32(0), at)
	if k < 0 || (k+1)*compactIndexEntry >= len(c.index) { // the last entry marks the end
		return Code{}, false
	}
	entry := c.index[compactIndexEntry*k:]
	first, next := binary.LittleEndian.Uint32(entry), binary.LittleEndian.Uint32(entry[compactIndexEntry:])
	begin, end, encoding, ok := c.inPage(binary.LittleEndian.Uint32(entry[4:]), first, next, at)
	if !ok || encoding&compactMode == 0 || begin > at || end <= at {
		return Code{}, false
	}
	r := target.Range{Start: c.base + target.Addr(begin), End: c.base + target.Addr(end)}
	if c.needsDWARF(encoding) {
		return c.frame(ip, encoding)
	}
	return Code{Range: r, Format: FormatCompact, Base: c.base, Packed: encoding}, true
}

// inPage finds a function in a page. It ends where the next function or page begins.
func (c *Compact) inPage(page, first, next, at uint32) (begin, end, encoding uint32, ok bool) {
	head, ok := c.part(page, 1, 8)
	if !ok {
		return 0, 0, 0, false
	}
	entries, count := uint32(binary.LittleEndian.Uint16(head[4:])), uint32(binary.LittleEndian.Uint16(head[6:]))
	end = next
	switch binary.LittleEndian.Uint32(head) {
	case compactRegularPage:
		list, ok := c.part(page+entries, count, 8)
		i := lastBefore(list, 8, ^uint32(0), at)
		if !ok || i < 0 {
			return 0, 0, 0, false
		}
		if rest := list[8*(i+1):]; len(rest) > 0 {
			end = binary.LittleEndian.Uint32(rest)
		}
		return binary.LittleEndian.Uint32(list[8*i:]), end, binary.LittleEndian.Uint32(list[8*i+4:]), true
	case compactPackedPage:
		const offsets = 1<<24 - 1
		list, ok := c.part(page+entries, count, 4)
		more, has := c.part(page+8, 1, 4)
		i := lastBefore(list, 4, offsets, at-first)
		if !ok || !has || i < 0 {
			return 0, 0, 0, false
		}
		if rest := list[4*(i+1):]; len(rest) > 0 {
			end = first + binary.LittleEndian.Uint32(rest)&offsets
		}
		v := binary.LittleEndian.Uint32(list[4*i:])
		encoding, ok = c.encoding(page+uint32(binary.LittleEndian.Uint16(more)), uint32(binary.LittleEndian.Uint16(more[2:])), v>>24)
		return first + v&offsets, end, encoding, ok
	}
	return 0, 0, 0, false
}

// encoding returns the n-th encoding: one of those that all pages share, or of the page's own count
// encodings at an offset.
func (c *Compact) encoding(own, count, n uint32) (uint32, bool) {
	shared := uint32(len(c.common) / 4)
	if n < shared {
		return binary.LittleEndian.Uint32(c.common[4*n:]), true
	}
	list, ok := c.part(own, count, 4)
	if n -= shared; !ok || n >= count {
		return 0, false
	}
	return binary.LittleEndian.Uint32(list[4*n:]), true
}

// The parts of an encoding: the mode, and the rest, which depends on it.
const (
	compactMode = 0x0f000000

	compactFrame     = 0x01000000 // x64: RBP is the frame pointer
	compactImmediate = 0x02000000 // the stack has a fixed size
	compactIndirect  = 0x03000000 // the size is in an instruction of the function
	compactDWARF     = 0x04000000

	compactLeafARM64  = 0x02000000 // no frame
	compactDWARFARM64 = 0x03000000
	compactFrameARM64 = 0x04000000

	compactFDE = 0x00ffffff // offset in __eh_frame
)

func (c *Compact) needsDWARF(encoding uint32) bool {
	return encoding&compactMode == compactDWARF && c.arch == target.ArchAMD64 || encoding&compactMode == compactDWARFARM64 && c.arch == target.ArchARM64
}

// frame returns the code of a function with call frame information.
func (c *Compact) frame(ip target.Addr, encoding uint32) (Code, bool) {
	off := uint64(encoding & compactFDE)
	if off >= c.frames.Size() {
		return Code{}, false
	}
	return c.dwarf.at(ip, c.frames.Start+target.Addr(off))
}

// stepCompact unwinds a function by its encoding. At its first instruction a function has no frame
// yet. Later in the prologue the encoding is wrong, which can't be detected.
func (c *Cursor) stepCompact(f *Frame, exact bool) error {
	ip, _ := f.Regs.IP()
	amd64, e := f.Regs.Arch == target.ArchAMD64, f.Code.Packed
	switch mode := e & compactMode; {
	case exact && ip == f.Code.Range.Start:
		return c.stepLeaf(f)
	case amd64 && mode == compactFrame:
		return c.compactFrameAMD64(f, e)
	case amd64 && (mode == compactImmediate || mode == compactIndirect):
		return c.compactStackAMD64(f, e)
	case !amd64 && mode == compactFrameARM64:
		return c.compactFrameARM64(f, e)
	case !amd64 && mode == compactLeafARM64:
		return c.compactLeafARM64(f, e)
	}
	return target.Unsupportedf("compact unwind encoding %#x of the code at %#x", e, uint64(f.Lookup()))
}

// compactRegsAMD64 are the registers by their numbers in encodings; number 0 means no register.
var compactRegsAMD64 = [...]target.Reg{0, target.RBX, target.R12, target.R13, target.R14, target.R15, target.RBP}

// compactFrameAMD64 unwinds a function with a frame pointer. Up to five registers are saved below
// it.
func (c *Cursor) compactFrameAMD64(f *Frame, e uint32) error {
	fp, ok := f.Regs.Get(target.RBP)
	if !ok {
		return target.Unsupportedf("the frame pointer is not known")
	}
	below := uint64(e >> 16 & 0xff)
	saved := map[target.Reg]uint64{target.RBP: fp}
	for i := range uint64(5) {
		n := e >> (3 * i) & 7
		if n >= uint32(len(compactRegsAMD64)) {
			return target.Corruptf("compact unwind encoding %#x", e)
		}
		if n != 0 {
			saved[compactRegsAMD64[n]] = fp - 8*below + 8*i
		}
	}
	return c.compactReturn(f, fp+16, saved)
}

// compactStackAMD64 unwinds a function without a frame pointer. Up to six registers are saved below
// its return address.
func (c *Cursor) compactStackAMD64(f *Frame, e uint32) error {
	sp, ok := f.Regs.Get(target.RSP)
	if !ok {
		return target.Unsupportedf("the stack pointer is not known")
	}
	size := uint64(e >> 16 & 0xff)
	if e&compactMode == compactImmediate {
		size *= 8
	} else {
		n, err := target.Uint32(c.u.mem, f.Code.Range.Start+target.Addr(size))
		if err != nil {
			return err
		}
		size = uint64(n) + 8*uint64(e>>13&7)
	}
	regs, err := compactPermutation(int(e>>10&7), e&0x3ff)
	if err != nil {
		return err
	}
	if size < 8*uint64(len(regs)+1) || size > maxCompactFrame {
		return target.Corruptf("compact unwind encoding %#x: %d registers in %d bytes", e, len(regs), size)
	}
	saved := map[target.Reg]uint64{}
	for i, r := range regs {
		saved[r] = sp + size - 8 - 8*uint64(len(regs)-i)
	}
	return c.compactReturn(f, sp+size, saved)
}

// compactPermutation decodes which n of the six registers are saved, in the order of their places.
// code is a number in the factorial system; its digits index the remaining registers.
func compactPermutation(n int, code uint32) ([]target.Reg, error) {
	if n > 6 {
		return nil, target.Corruptf("%d saved registers", n)
	}
	left := []target.Reg{target.RBX, target.R12, target.R13, target.R14, target.R15, target.RBP}
	var out []target.Reg
	for i := range n {
		weight := uint32(1) // of this digit
		for k := i + 1; k < n; k++ {
			weight *= uint32(6 - k)
		}
		digit := code / weight
		code %= weight
		if digit >= uint32(len(left)) {
			return nil, target.Corruptf("permutation of saved registers")
		}
		out = append(out, left[digit])
		left = append(left[:digit:digit], left[digit+1:]...)
	}
	return out, nil
}

// compactReturn changes f to the caller. sp is the caller's stack pointer; the return address is
// below it.
func (c *Cursor) compactReturn(f *Frame, sp uint64, saved map[target.Reg]uint64) error {
	ip, err := c.win.Uint64(target.Addr(sp - 8))
	if err != nil {
		return err
	}
	out := f.Regs
	if err := c.restore(&out, saved); err != nil {
		return err
	}
	for r := range volatileAMD64.All {
		out.Forget(r)
	}
	out.Set(target.RIP, ip)
	out.Set(target.RSP, sp)
	f.Regs = out
	return nil
}

// restore loads registers from the addresses in saved.
func (c *Cursor) restore(out *target.Registers, saved map[target.Reg]uint64) error {
	for r, a := range saved {
		v, err := c.win.Uint64(target.Addr(a))
		if err != nil {
			return err
		}
		out.Set(r, v)
	}
	return nil
}

// compactPairsARM64 is the number of pairs of general registers in an encoding, and
// compactVectorsARM64 of vector registers, which are saved below them.
const compactPairsARM64, compactVectorsARM64 = 5, 4

// compactFrameARM64 unwinds a function with a frame record. Pairs of registers are saved below it.
func (c *Cursor) compactFrameARM64(f *Frame, e uint32) error {
	fp, ok := f.Regs.Get(target.ARM64FP)
	if !ok {
		return target.Unsupportedf("the frame pointer is not known")
	}
	saved := map[target.Reg]uint64{target.ARM64FP: fp, target.ARM64LR: fp + 8}
	at := fp - 8
	for i := range compactPairsARM64 {
		if e>>i&1 != 0 {
			r := target.ARM64X0 + 19 + 2*target.Reg(i)
			saved[r], saved[r+1] = at, at-8
			at -= 16
		}
	}
	out := f.Regs
	if err := c.restore(&out, saved); err != nil {
		return err
	}
	for i := range compactVectorsARM64 {
		if e>>(8+i)&1 == 0 {
			continue
		}
		for k := range 2 {
			v, err := c.win.Uint64(target.Addr(at))
			if err != nil {
				return err
			}
			out.SetVectorLow(8+2*i+k, v)
			at -= 8
		}
	}
	out.SetSP(target.Addr(fp + 16))
	f.Regs = out
	return c.returnARM64(f)
}

// compactLeafARM64 unwinds a function with its return address in the link register and without
// saved registers.
func (c *Cursor) compactLeafARM64(f *Frame, e uint32) error {
	if e&(1<<compactPairsARM64-1|(1<<compactVectorsARM64-1)<<8) != 0 {
		return target.Unsupportedf("compact unwind encoding %#x: saved registers without a frame", e)
	}
	sp, ok := f.Regs.SP()
	if !ok {
		return target.Unsupportedf("the stack pointer is not known")
	}
	f.Regs.SetSP(sp + 16*target.Addr(e>>12&0xfff))
	return c.returnARM64(f)
}
