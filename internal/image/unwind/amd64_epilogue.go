package unwind

import (
	"encoding/binary"

	"github.com/sosgo/sosgo/target"
)

// maxEpilogue is the maximum length of an epilogue in bytes: the release of the frame, eight pops
// of two bytes, and a jump.
const maxEpilogue = 48

// epilogueAMD64 unwinds a frame that is in an epilogue, where the prologue's codes no longer
// describe the stack, by executing the rest of the instructions. It reports false if ip is not in
// an epilogue, or the code is not in the dump.
//
// In version 1 an epilogue is recognized by its form, which the convention prescribes: the release
// of the frame by ADD RSP or LEA RSP, pops, and a return or a jump out of the function.
func (c *Cursor) epilogueAMD64(f *Frame, wi *windowsInfo, ip target.Addr) (bool, error) {
	if len(wi.epilogs) > 0 && !wi.inEpilog(uint64(f.Code.Range.End-ip)) {
		return false, nil
	}
	n := maxEpilogue
	if left := f.Code.Range.End - ip; left < maxEpilogue {
		n = int(left)
	}
	code, err := target.Bytes(c.u.mem, ip, n)
	if err != nil {
		return false, nil // the body's codes are the better guess
	}
	e := epilogueScan{code: code, regs: f.Regs, fp: wi.fpReg, hasFP: wi.hasFP, ip: ip, within: f.Code.Range}
	if !e.scan(c) {
		return false, e.err
	}
	f.Regs = e.regs
	return true, c.returnAMD64(f)
}

// inEpilog reports whether the instruction at a distance from the end is in an epilogue that
// version 2 lists.
func (wi *windowsInfo) inEpilog(fromEnd uint64) bool {
	for _, e := range wi.epilogs {
		if e.fromEnd != 0 && fromEnd <= uint64(e.fromEnd) && fromEnd > uint64(e.fromEnd)-uint64(min(e.size, e.fromEnd)) {
			return true
		}
	}
	return false
}

// epilogueScan executes the instructions of an epilogue on a copy of the registers.
type epilogueScan struct {
	code   []byte
	regs   target.Registers
	fp     target.Reg
	hasFP  bool
	ip     target.Addr
	within target.Range
	err    error
}

// scan reports whether the rest of the code is an epilogue. regs are then the registers before its
// return.
func (e *epilogueScan) scan(c *Cursor) bool {
	p, ok := e.release(e.code)
	if !ok {
		return false
	}
	for len(p) > 0 {
		reg, n := popReg(p)
		if n == 0 {
			return e.leaves(p)
		}
		sp, _ := e.regs.Get(target.RSP)
		v, err := c.win.Uint64(target.Addr(sp))
		if err != nil {
			e.err = err
			return false
		}
		e.regs.Set(reg, v)
		e.regs.Set(target.RSP, sp+8)
		p = p[n:]
	}
	return false
}

// release executes ADD RSP, imm or LEA RSP, [frame register+disp], if it is next.
func (e *epilogueScan) release(p []byte) ([]byte, bool) {
	sp, ok := e.regs.Get(target.RSP)
	if !ok {
		return p, false
	}
	switch {
	case len(p) >= 4 && p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xc4:
		e.regs.Set(target.RSP, sp+uint64(int64(int8(p[3]))))
		return p[4:], true
	case len(p) >= 7 && p[0] == 0x48 && p[1] == 0x81 && p[2] == 0xc4:
		e.regs.Set(target.RSP, sp+uint64(int64(int32(binary.LittleEndian.Uint32(p[3:])))))
		return p[7:], true
	case e.hasFP && len(p) >= 4 && p[0]&0xfe == 0x48 && p[1] == 0x8d && p[2]&0x38 == 0x20:
		return e.lea(p)
	}
	return p, true
}

// lea executes LEA RSP, [frame register + disp8 or disp32].
func (e *epilogueScan) lea(p []byte) ([]byte, bool) {
	base := target.Reg(p[2]&7 | p[0]&1<<3)
	v, ok := e.regs.Get(base)
	if !ok || base != e.fp || base&7 == 4 {
		return p, false
	}
	switch p[2] >> 6 {
	case 1:
		e.regs.Set(target.RSP, v+uint64(int64(int8(p[3]))))
		return p[4:], true
	case 2:
		if len(p) < 7 {
			return p, false
		}
		e.regs.Set(target.RSP, v+uint64(int64(int32(binary.LittleEndian.Uint32(p[3:])))))
		return p[7:], true
	}
	return p, false
}

// popReg decodes POP r64. It returns the register and the length, or length 0 for another
// instruction.
func popReg(p []byte) (target.Reg, int) {
	switch {
	case p[0]&0xf8 == 0x58:
		return target.Reg(p[0] & 7), 1
	case len(p) > 1 && p[0] == 0x41 && p[1]&0xf8 == 0x58:
		return target.Reg(8 + p[1]&7), 2
	}
	return 0, 0
}

// leaves reports whether p starts with the end of an epilogue: a return, or a jump out of the
// function.
func (e *epilogueScan) leaves(p []byte) bool {
	switch {
	case p[0] == 0xc3, p[0] == 0xc2 && len(p) >= 3, len(p) > 1 && p[0] == 0xf3 && p[1] == 0xc3:
		return true
	case p[0] == 0xeb && len(p) > 1:
		return !e.within.Contains(e.target(p, 2, int64(int8(p[1]))))
	case p[0] == 0xe9 && len(p) > 4:
		return !e.within.Contains(e.target(p, 5, int64(int32(binary.LittleEndian.Uint32(p[1:])))))
	case len(p) > 1 && p[0] == 0xff && p[1] == 0x25: // jmp [rip+disp32]
		return true
	case len(p) > 2 && p[0] == 0x48 && p[1] == 0xff && p[2]&0x38 == 0x20: // rex.w jmp r/m64: the form for tail calls
		return true
	}
	return false
}

func (e *epilogueScan) target(p []byte, length int, distance int64) target.Addr {
	at := e.ip + target.Addr(len(e.code)-len(p)+length)
	return at + target.Addr(distance)
}
