package unwind

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

const (
	// maxFrame is the maximum size of a frame that a frame pointer spans if the stack's range is
	// unknown.
	maxFrame  = 8 << 20
	scanWords = 4096 // words above the stack pointer to search for a return address
)

// inStack reports whether a can be a slot of the stack above sp.
func (c *Cursor) inStack(a, sp target.Addr) bool {
	if a < sp || a%8 != 0 {
		return false
	}
	if c.stack.Contains(sp) {
		return c.stack.Contains(a)
	}
	return a-sp < maxFrame
}

// nearLink is the distance from which on an address in the link register is assumed to be outside
// of the current function.
const nearLink = 4 << 10

// link continues at the address in the link register if f may be a leaf function without a frame
// record. In another function the link register holds the address after its last call, which is
// near, or the one in its record.
func (c *Cursor) link(f *Frame) bool {
	p, err := f.Regs.Arch.Processor()
	if err != nil || p.Link == target.NoReg || !f.Exact {
		return false
	}
	lr, known := f.Regs.Get(p.Link)
	at, _ := f.Regs.IP()
	sp, ok := f.Regs.SP()
	ip := f.Regs.Code(lr)
	if !known || !ok || !p.Mappable(ip) || !c.u.codes.InCode(ip-1) {
		return false
	}
	fp, framed := f.Regs.FP()
	if b, err := c.win.Bytes(fp+8, 8); framed && err == nil && f.Regs.Code(binary.LittleEndian.Uint64(b)) == ip {
		return false
	}
	callee, call, err := CallBefore(c.u.mem, f.Regs.Arch, ip)
	switch near := max(ip, at)-min(ip, at) < nearLink; {
	case err == nil && !call:
		return false
	case near && (callee == 0 || callee > at || at-callee >= nearLink):
		return false
	}
	c.fallback(f, TrustFP, ip, sp)
	if framed {
		f.Regs.SetFP(fp)
	}
	return true
}

// isOutermost reports whether f made a call and has a frame pointer of 0, on a processor with ABIs
// that all end the chain of frame records with it (AAPCS64, "The Frame Pointer").
func (c *Cursor) isOutermost(f *Frame) bool {
	p, err := f.Regs.Arch.Processor()
	fp, known := f.Regs.FP()
	return err == nil && p.Link != target.NoReg && !f.Exact && known && fp == 0
}

// framePointer follows the frame pointer: on both architectures it points to the caller's frame
// pointer, and the return address is above. It is wrong if code uses the register for another
// purpose with similar values.
func (c *Cursor) framePointer(f *Frame) bool {
	fp, known := f.Regs.FP()
	sp, ok := f.Regs.SP()
	if !known || !ok || !c.inStack(fp, sp) {
		return false
	}
	b, err := c.win.Bytes(fp, 16)
	if err != nil {
		return false
	}
	if _, err := f.Regs.Arch.Processor(); err != nil {
		return false
	}
	next, ip := target.Addr(binary.LittleEndian.Uint64(b)), f.Regs.Code(binary.LittleEndian.Uint64(b[8:]))
	// The caller's frame pointer is above, or 0 at the end of the chain.
	if next != 0 && !c.inStack(next, fp+16) || ip == 0 || !c.u.codes.InCode(ip-1) {
		return false
	}
	c.fallback(f, TrustFP, ip, fp+16)
	f.Regs.SetFP(next)
	return true
}

// scan uses the first word above the stack pointer that is a return address: it is in code, and
// after a call if the code is in the dump. It is wrong if the stack holds a stale return address.
func (c *Cursor) scan(f *Frame) bool {
	sp, ok := f.Regs.SP()
	if !ok {
		return false
	}
	processor, err := f.Regs.Arch.Processor()
	if err != nil {
		return false
	}
	sp = (sp + 7) &^ 7
	for a := sp; a < sp+8*scanWords && c.inStack(a, sp); a += 8 {
		v, err := c.win.Uint64(a)
		if err != nil {
			return false
		}
		if v == 0 { // as most words of a stack's unused parts
			continue
		}
		ip := f.Regs.Code(v)
		if !processor.Mappable(ip) || !c.u.codes.InCode(ip-1) || !c.afterCall(f.Regs.Arch, ip) {
			continue
		}
		c.fallback(f, TrustScan, ip, a+8)
		f.Regs.ForgetFP()
		c.scanned = true
		if fp, ok := c.pushedFramePointer(a, sp); ok {
			f.Regs.SetFP(fp)
		}
		return true
	}
	return false
}

// pushedFramePointer returns the caller's frame pointer that a function on x64 pushes below the
// return address at a. It is valid if it points to another such pair, further up. sp is the stack
// pointer of the function.
func (c *Cursor) pushedFramePointer(a, sp target.Addr) (target.Addr, bool) {
	if a < sp+8 {
		return 0, false
	}
	v, err := c.win.Uint64(a - 8)
	fp := target.Addr(v)
	if err != nil || !c.inStack(fp, a+8) {
		return 0, false
	}
	b, err := c.win.Bytes(fp, 16)
	if err != nil {
		return 0, false
	}
	next, ip := target.Addr(binary.LittleEndian.Uint64(b)), target.Addr(binary.LittleEndian.Uint64(b[8:]))
	return fp, (next == 0 || c.inStack(next, fp+16)) && ip != 0 && c.u.codes.InCode(ip-1)
}

// fallback replaces f by a caller with only these registers known.
func (c *Cursor) fallback(f *Frame, t Trust, ip, sp target.Addr) {
	f.Regs = target.Registers{Arch: f.Regs.Arch, Signature: f.Regs.Signature}
	f.Regs.SetIP(ip)
	f.Regs.SetSP(sp)
	f.Code = Code{}
	f.Trust, f.Exact, f.Err = t, false, nil
}

// afterCall reports whether a call instruction ends at ip, or may end there because the code is not
// in the dump.
func (c *Cursor) afterCall(arch target.Arch, ip target.Addr) bool {
	_, ok, err := CallBefore(c.u.mem, arch, ip)
	return ok || err != nil
}

// CallBefore reports whether a call instruction ends at ip, and its callee, or 0 if the callee
// depends on registers. The error means that the code before ip can't be read.
func CallBefore(mem target.Memory, arch target.Arch, ip target.Addr) (callee target.Addr, ok bool, err error) {
	if arch == target.ArchARM64 {
		w, err := target.Uint32(mem, ip-4)
		if err == nil && w>>26 == 0x25 { // BL
			return ip - 4 + target.Addr(int64(w<<6)<<32>>32>>4), true, nil
		}
		// BLR and its forms with pointer authentication.
		return 0, err == nil && (w&0xfffffc1f == 0xd63f0000 || w&0xfefff800 == 0xd63f0800), err
	}
	b, err := target.Bytes(mem, ip-7, 7)
	if err != nil {
		return 0, false, err
	}
	if b[2] == 0xe8 { // call rel32
		return ip + target.Addr(int32(binary.LittleEndian.Uint32(b[3:]))), true, nil
	}
	// ff /2: call r/m64, with two to seven bytes.
	for n := 2; n <= 7; n++ {
		p := b[7-n:]
		if p[0] != 0xff || p[1]>>3&7 != 2 || callLength(p) != n {
			continue
		}
		if p[1] == 0x15 { // through memory: [rip+disp32]
			callee, _ = target.Pointer(mem, ip+target.Addr(int32(binary.LittleEndian.Uint32(p[2:]))))
		}
		return callee, true, nil
	}
	return 0, false, nil
}

// callLength returns the length of the instruction ff /2 at p: opcode, ModRM, SIB and displacement.
func callLength(p []byte) int {
	mod, rm := p[1]>>6, p[1]&7
	n := 2
	if mod != 3 && rm == 4 {
		if len(p) < 3 {
			return 0
		}
		if mod == 0 && p[2]&7 == 5 {
			n += 4
		}
		n++
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}

// stepLeaf unwinds a function that keeps its return address where the call put it.
func (c *Cursor) stepLeaf(f *Frame) error {
	if f.Regs.Arch == target.ArchARM64 {
		return c.returnARM64(f)
	}
	return c.returnAMD64(f)
}
