package unwind

import (
	"encoding/binary"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// The unwind operations of x64 (UNWIND_CODE, "x64 exception handling"). 11 is used by the CLR on
// Unix for frames that are too large for SET_FPREG (src/coreclr/inc/win64unwind.h).
const (
	opPushNonvol    = 0
	opAllocLarge    = 1
	opAllocSmall    = 2
	opSetFPReg      = 3
	opSaveNonvol    = 4
	opSaveNonvolFar = 5
	opEpilog        = 6 // version 2, also as padding
	opSpare         = 7
	opSaveXMM       = 8
	opSaveXMMFar    = 9
	opPushMachFrame = 10
	opSetFPRegLarge = 11
)

const unwChained = 4 // UNW_FLAG_CHAININFO

// windowsInfo is the decoded unwind data of a function or fragment.
type windowsInfo struct {
	prolog   uint32 // bytes
	fpReg    target.Reg
	hasFP    bool
	fpOffset uint64
	chained  bool // the ops of a parent follow the ops of the fragment
	ops      []windowsOp
	epilogs  []epilog // version 2
	err      error    // the data is corrupt or unknown
	arm64    *arm64Info
}

type windowsOp struct {
	offset uint8 // in the prologue, after the instruction; 0 for a parent's op
	op     uint8
	reg    uint8 // a register; for a machine frame, whether it has an error code
	value  uint32
}

// An epilog of version 2, in bytes from the function's end.
type epilog struct{ fromEnd, size uint32 }

// cachedInfo returns unwind data that was decoded before, or nil.
func (u *Unwinder) cachedInfo(key infoKey) *windowsInfo {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.infos[key]
}

// keep caches decoded unwind data.
func (u *Unwinder) keep(key infoKey, wi *windowsInfo) *windowsInfo {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.infos[key] = wi
	return wi
}

func (c *Code) key() infoKey { return infoKey{c.Base, c.Info, c.Packed} }

func (u *Unwinder) decodeAMD64(code Code) *windowsInfo {
	wi := &windowsInfo{}
	at := code.Info
	total := 0
	for depth := 0; ; depth++ {
		if depth == limits.UnwindChain {
			wi.err = target.Corruptf("UNWIND_INFO %#x: a chain of more than %d", uint64(code.Info), depth)
			return wi
		}
		head, err := target.Bytes(u.mem, at, 4)
		if err != nil {
			wi.err = err
			return wi
		}
		version, flags, count := head[0]&7, head[0]>>3, int(head[2])
		if version != 1 && version != 2 {
			wi.err = target.Corruptf("UNWIND_INFO %#x: version %d", uint64(at), version)
			return wi
		}
		if total += count; total > limits.UnwindInfoCodes {
			wi.err = target.Corruptf("UNWIND_INFO %#x: more than %d unwind codes", uint64(code.Info), limits.UnwindInfoCodes)
			return wi
		}
		if depth == 0 {
			wi.prolog = uint32(head[1])
		}
		if head[3]&15 != 0 {
			wi.hasFP, wi.fpReg, wi.fpOffset = true, target.Reg(head[3]&15), 16*uint64(head[3]>>4)
		}
		codes, err := target.Bytes(u.mem, at+4, 2*count)
		if err == nil {
			err = wi.add(codes, version, depth > 0, head[3]>>4)
		}
		if err == nil && code.Managed && depth == 0 {
			err = u.deniesPushes(code.Range.Start, wi)
		}
		if err != nil {
			wi.err = err
			return wi
		}
		if flags&unwChained == 0 {
			return wi
		}
		wi.chained = true
		next, err := target.Uint32(u.mem, at+4+target.Addr((count+1)&^1)*2+8)
		if err != nil {
			wi.err = err
			return wi
		}
		at = code.Base + target.Addr(next&^1)
	}
}

// The opcodes of push, of its prefix for registers from R8 on, and of a breakpoint.
const (
	pushAMD64       = 0x50
	prefixB         = 0x41
	breakpointAMD64 = 0xcc
)

// deniesPushes returns an error if the prologue of managed code at start pushes other registers than its unwind data list. A prologue that is not in
// the dump, has a debugger's breakpoint, or zeros, as code that was left out of a scrubbed dump, denies nothing. The data of a method that continues
// another one's frame begin with operations at offset 0, which have no instruction.
func (u *Unwinder) deniesPushes(start target.Addr, wi *windowsInfo) error {
	code, err := target.Bytes(u.mem, start, int(wi.prolog))
	if err != nil || len(code) > 0 && code[0] == 0 || slices.Contains(code, breakpointAMD64) {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	listed := map[int]*windowsOp{}
	for i := range wi.ops {
		o := &wi.ops[i]
		at := int(o.offset)
		listed[at] = o
		if at > len(code) || o.op == opPushNonvol && at > 0 && code[at-1] != pushAMD64|o.reg&7 {
			return target.Corruptf("UNWIND_INFO of the code at %#x: an operation at offset %d that its prologue does not have", uint64(start), at)
		}
	}
	for at := 0; ; {
		n := 1
		if at+1 < len(code) && code[at] == prefixB {
			n = 2
		}
		at += n
		if at > len(code) || code[at-1]&^7 != pushAMD64 {
			return nil
		}
		reg := code[at-1]&7 | byte(8*(n-1))
		if o := listed[at]; o == nil || o.op != opAllocLarge && (o.op != opPushNonvol || o.reg != reg) {
			return target.Corruptf("UNWIND_INFO of the code at %#x lacks a push at offset %d", uint64(start), at)
		}
	}
}

// slots returns the number of UNWIND_CODEs of an operation.
func slots(op, info byte) int {
	switch op {
	case opAllocLarge:
		if info == 0 {
			return 2
		}
		return 3
	case opSaveNonvol, opSaveXMM:
		return 2
	case opSaveNonvolFar, opSpare, opSaveXMMFar, opSetFPRegLarge:
		return 3
	}
	return 1
}

// add decodes unwind codes. A parent's codes have run completely when the fragment runs.
func (wi *windowsInfo) add(codes []byte, version byte, parent bool, fpOffset byte) error {
	first := true
	for len(codes) > 0 {
		c := windowsOp{offset: codes[0], op: codes[1] & 15, reg: codes[1] >> 4}
		n := 2 * slots(c.op, c.reg)
		if n > len(codes) {
			return target.Corruptf("unwind code %d needs %d bytes, %d are left", c.op, n, len(codes))
		}
		arg := codes[2:n]
		codes = codes[n:]
		if parent {
			c.offset = 0
		}
		switch c.op {
		case opPushNonvol, opSetFPReg:
		case opPushMachFrame:
			if c.reg > 1 {
				return target.Corruptf("machine frame of kind %d", c.reg)
			}
		case opAllocSmall:
			c.op, c.value = opAllocLarge, 8*uint32(c.reg)+8
		case opAllocLarge:
			if c.reg == 0 {
				c.value = 8 * uint32(binary.LittleEndian.Uint16(arg))
			} else {
				c.value = binary.LittleEndian.Uint32(arg)
			}
		case opSaveNonvol:
			c.value = 8 * uint32(binary.LittleEndian.Uint16(arg))
		case opSaveNonvolFar:
			c.op, c.value = opSaveNonvol, binary.LittleEndian.Uint32(arg)
		case opSetFPRegLarge:
			if fpOffset != 15 {
				return target.Corruptf("SET_FPREG_LARGE with a small offset %d", fpOffset)
			}
			c.op = opSetFPReg
			wi.fpOffset = 16 * uint64(binary.LittleEndian.Uint32(arg))
		case opEpilog:
			if version == 2 && !parent {
				wi.addEpilog(c, first)
			}
			first = false
			continue
		case opSpare, opSaveXMM, opSaveXMMFar:
			continue // vector registers are ignored
		default:
			return target.Corruptf("unwind operation %d", c.op)
		}
		if c.op == opSetFPReg && !wi.hasFP {
			return target.Corruptf("SET_FPREG without a frame register")
		}
		wi.ops = append(wi.ops, c)
	}
	return nil
}

// addEpilog decodes an epilogue of version 2. The first code has the size of all epilogues, and bit
// 0 of its info means that one is at the end of the function. Each other code has the distance of
// an epilogue from the end.
func (wi *windowsInfo) addEpilog(c windowsOp, first bool) {
	if first {
		size := uint32(c.offset)
		from := uint32(0)
		if c.reg&1 != 0 {
			from = size
		}
		wi.epilogs = append(wi.epilogs, epilog{from, size})
		return
	}
	if len(wi.epilogs) == 0 {
		return
	}
	if from := uint32(c.offset) | uint32(c.reg)<<8; from != 0 {
		wi.epilogs = append(wi.epilogs, epilog{from, wi.epilogs[0].size})
	}
}

// volatileAMD64 are the registers that a call does not preserve under Windows' convention. It does
// not include RSI and RDI, which Unix does not preserve either: the codes there don't describe
// them.
var volatileAMD64 = target.WindowsAMD64().Scratch()

// infoAMD64 returns the decoded unwind data of code.
func (u *Unwinder) infoAMD64(code Code) *windowsInfo {
	if wi := u.cachedInfo(code.key()); wi != nil {
		return wi
	}
	return u.keep(code.key(), u.decodeAMD64(code))
}

// framedAMD64 implements Framed. It may change f.
func (c *Cursor) framedAMD64(f *Frame, ip target.Addr) bool {
	wi := c.u.infoAMD64(f.Code)
	if wi.err != nil {
		return true
	}
	if ip-f.Code.Range.Start < target.Addr(wi.prolog) && !wi.chained {
		return false
	}
	done, err := c.epilogueAMD64(f, wi, ip)
	return !done || err != nil
}

func (c *Cursor) stepAMD64(f *Frame, exact bool) error {
	wi := c.u.infoAMD64(f.Code)
	if wi.err != nil {
		return wi.err
	}
	ip, _ := f.Regs.IP()
	offset := uint64(ip - f.Code.Range.Start)
	if exact && (offset >= uint64(wi.prolog) || wi.chained) {
		if done, err := c.epilogueAMD64(f, wi, ip); done || err != nil {
			return err
		}
	}
	sp, ok := f.Regs.Get(target.RSP)
	if !ok {
		return target.Unsupportedf("the stack pointer is not known")
	}
	frame, err := wi.frameBase(f, sp, offset)
	if err != nil {
		return err
	}
	for i := range wi.ops {
		o := &wi.ops[i]
		if uint64(o.offset) > offset {
			continue
		}
		switch o.op {
		case opPushNonvol:
			v, err := c.win.Uint64(target.Addr(sp))
			if err != nil {
				return err
			}
			f.Regs.Set(target.Reg(o.reg), v)
			sp += 8
		case opAllocLarge:
			sp += uint64(o.value)
		case opSetFPReg:
			sp = frame
		case opSaveNonvol:
			v, err := c.win.Uint64(target.Addr(frame + uint64(o.value)))
			if err != nil {
				return err
			}
			f.Regs.Set(target.Reg(o.reg), v)
		case opPushMachFrame:
			return c.machineFrame(f, target.Addr(sp+8*uint64(o.reg)))
		}
	}
	f.Regs.Set(target.RSP, sp)
	return c.returnAMD64(f)
}

// frameBase returns the base of the offsets of saved registers: once the frame register is set, its
// value minus its offset, otherwise the stack pointer.
func (wi *windowsInfo) frameBase(f *Frame, sp, offset uint64) (uint64, error) {
	if !wi.hasFP {
		return sp, nil
	}
	set := offset >= uint64(wi.prolog) || wi.chained
	for i := range wi.ops {
		if wi.ops[i].op == opSetFPReg && uint64(wi.ops[i].offset) <= offset {
			set = true
		}
	}
	if !set {
		return sp, nil
	}
	v, ok := f.Regs.Get(wi.fpReg)
	if !ok {
		return 0, target.Unsupportedf("the frame register %s is not known", target.RegName(target.ArchAMD64, wi.fpReg))
	}
	return v - wi.fpOffset, nil
}

// machineFrame loads the registers that the processor pushed at an interrupt.
func (c *Cursor) machineFrame(f *Frame, at target.Addr) error {
	b, err := c.win.Bytes(at, 40) // RIP, CS, EFLAGS, RSP, SS
	if err != nil {
		return err
	}
	f.Regs.Set(target.RIP, binary.LittleEndian.Uint64(b))
	f.Regs.Set(target.EFLAGS, binary.LittleEndian.Uint64(b[16:]))
	f.Regs.Set(target.RSP, binary.LittleEndian.Uint64(b[24:]))
	f.Exact = true
	return nil
}

// returnAMD64 pops the return address.
func (c *Cursor) returnAMD64(f *Frame) error {
	sp, ok := f.Regs.Get(target.RSP)
	if !ok {
		return target.Unsupportedf("the stack pointer is not known")
	}
	ip, err := c.win.Uint64(target.Addr(sp))
	if err != nil {
		return err
	}
	f.Regs.Set(target.RIP, ip)
	f.Regs.Set(target.RSP, sp+8)
	for r := range volatileAMD64.All {
		f.Regs.Forget(r)
	}
	return nil
}
