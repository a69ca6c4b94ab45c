package unwind

import (
	"encoding/binary"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// In ARM64 unwind data of Windows ("ARM64 exception handling") each unwind code describes one
// instruction of the prologue, in reverse order. In the middle of the prologue or an epilogue, only
// the codes of instructions that have run apply.

type arm64Kind uint8

const (
	armNop     arm64Kind = iota // an instruction without an effect to undo
	armAlloc                    // SP was lowered by value
	armSave                     // count registers from reg on were stored at SP + value
	armSaveLR                   // one register and LR were stored
	armSetFP                    // FP = SP + value
	armSaveD                    // count lower halves of vector registers from number reg on were stored
	armSaveQ                    // count whole vector registers were stored
	armNext                     // the registers that follow the registers of the next save were stored after them
	armMachine                  // the processor's state at an interrupt
	armUnknown
)

// arm64Op is one unwind code.
type arm64Op struct {
	kind  arm64Kind
	reg   target.Reg
	count uint8
	value uint32 // bytes
	pre   uint32 // bytes by which the same instruction lowered SP
}

// arm64Info is decoded unwind data: the codes of the prologue, and of each epilogue from its start
// on.
type arm64Info struct {
	ops     arm64Codes
	epilogs []arm64Epilog
}

type arm64Epilog struct {
	start uint32 // instructions from the start of the function
	ops   arm64Codes
}

// arm64Codes are unwind codes. The first own ones describe instructions of this code. A fragment of
// a function then has the codes of the function, whose prologue has run elsewhere.
type arm64Codes struct {
	ops []arm64Op
	own uint32
}

// codeARM64 decodes a .pdata entry for the code at rva.
func codeARM64(mem target.Memory, base target.Addr, e []byte, rva uint32) (Code, bool) {
	begin, word := binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])
	c := Code{Format: FormatWindows, Base: base}
	var words uint32
	switch word & 3 {
	case 0:
		c.Info = base + target.Addr(word)
		head, err := target.Uint32(mem, c.Info)
		if err != nil {
			return Code{}, false
		}
		words = head & (1<<18 - 1)
	case 1, 2:
		c.Packed, words = word, word>>2&(1<<11-1)
	default:
		return Code{}, false
	}
	if uint64(rva)-uint64(begin) >= 4*uint64(words) {
		return Code{Format: FormatLeaf}, true
	}
	c.Range = target.RangeAt(base+target.Addr(begin), uint64(4*target.Addr(words)))
	return c, true
}

func (u *Unwinder) decodeARM64(code Code) *windowsInfo {
	wi := &windowsInfo{arm64: &arm64Info{}}
	if code.Info == 0 {
		wi.arm64.unpack(code.Packed)
	} else {
		wi.err = u.readXData(code, wi.arm64)
	}
	return wi
}

// readXData reads an .xdata record.
func (u *Unwinder) readXData(code Code, info *arm64Info) error {
	head, err := target.Uint32(u.mem, code.Info)
	if err != nil {
		return err
	}
	if v := head >> 18 & 3; v != 0 {
		return target.Unsupportedf(".xdata %#x: version %d", uint64(code.Info), v)
	}
	at := code.Info + 4
	epilogs, codeWords := head>>22&31, head>>27
	if epilogs == 0 && codeWords == 0 {
		ext, err := target.Uint32(u.mem, at)
		if err != nil {
			return err
		}
		at += 4
		epilogs, codeWords = ext&0xffff, ext>>16&0xff
	}
	single := head>>21&1 != 0
	scopes := int(epilogs)
	if single {
		scopes = 0
	}
	b, err := target.Bytes(u.mem, at, 4*(scopes+int(codeWords)))
	if err != nil {
		return err
	}
	codes := b[4*scopes:]
	if info.ops, err = decodeCodesARM64(codes); err != nil {
		return err
	}
	if single {
		// One epilogue, at the end; the count is the index of its first code. Its length is the
		// number of its codes and the return.
		ops, err := epilogCodes(codes, epilogs)
		if err != nil {
			return err
		}
		words := uint32(code.Range.Size() / 4)
		if n := ops.own + 1; n <= words {
			info.epilogs = append(info.epilogs, arm64Epilog{words - n, ops})
		}
		return nil
	}
	for i := range scopes {
		w := binary.LittleEndian.Uint32(b[4*i:])
		ops, err := epilogCodes(codes, w>>22)
		if err != nil {
			return err
		}
		if info.epilogs = append(info.epilogs, arm64Epilog{w & (1<<18 - 1), ops}); len(info.epilogs)*len(codes) > limits.UnwindInfoCodes*64 {
			return target.Corruptf(".xdata %#x: %d epilogues of %d bytes of codes", uint64(code.Info), scopes, len(codes))
		}
	}
	return nil
}

func epilogCodes(codes []byte, index uint32) (arm64Codes, error) {
	if uint64(index) >= uint64(len(codes)) {
		return arm64Codes{}, target.Corruptf("an epilogue with unwind code %d of %d", index, len(codes))
	}
	out, ended, err := codesARM64(codes[index:])
	if err == nil && !ended && len(out.ops) == 0 {
		err = target.Corruptf("an epilogue without unwind codes")
	}
	return out, err // compilers omit the end of a fragment's epilogue at the end of the record
}

// decodeCodesARM64 decodes the unwind codes of a prologue, up to the end code.
func decodeCodesARM64(b []byte) (arm64Codes, error) {
	out, ended, err := codesARM64(b)
	if err == nil && !ended {
		err = target.Corruptf("unwind codes without an end")
	}
	return out, err
}

// codesARM64 decodes unwind codes up to the end code. ended reports whether there is one.
func codesARM64(b []byte) (out arm64Codes, ended bool, err error) {
	fragment := false
	for len(b) > 0 {
		n := lengthARM64(b[0])
		if n > len(b) {
			return out, false, target.Corruptf("unwind code %#02x is cut off", b[0])
		}
		switch {
		case b[0] == 0xe4: // end
			return out, true, nil
		case b[0] == 0xe5: // end_c: the function's codes follow
			fragment = true
		default:
			out.ops = append(out.ops, opARM64(b[:n]))
			if !fragment {
				out.own++
			}
		}
		b = b[n:]
	}
	return out, false, nil
}

// lengthARM64 returns the length of an unwind code in bytes.
func lengthARM64(b byte) int {
	switch {
	case b == 0xe0: // alloc_l
		return 4
	case b == 0xe7: // save_any_reg
		return 3
	case b == 0xe2, b >= 0xc0 && b <= 0xdf:
		return 2
	case b == 0xf8:
		return 2
	case b == 0xf9:
		return 3
	case b == 0xfa:
		return 4
	case b == 0xfb:
		return 5
	}
	return 1
}

// opARM64 decodes one unwind code of full length.
func opARM64(b []byte) arm64Op {
	w := uint32(b[0])
	if len(b) > 1 {
		w = w<<8 | uint32(b[1])
	}
	z6, x4 := 8*(w&63), target.Reg(w>>6&15)
	switch c := b[0]; {
	case c < 0x20: // alloc_s
		return arm64Op{kind: armAlloc, value: 16 * uint32(c)}
	case c < 0x40: // save_r19r20_x
		return arm64Op{kind: armSave, reg: 19, count: 2, pre: 8 * uint32(c&31)}
	case c < 0x80: // save_fplr
		return arm64Op{kind: armSave, reg: target.ARM64FP, count: 2, value: 8 * uint32(c&63)}
	case c < 0xc0: // save_fplr_x
		return arm64Op{kind: armSave, reg: target.ARM64FP, count: 2, pre: 8*uint32(c&63) + 8}
	case c < 0xc8: // alloc_m
		return arm64Op{kind: armAlloc, value: 16 * (w & (1<<11 - 1))}
	case c < 0xcc: // save_regp
		return arm64Op{kind: armSave, reg: 19 + x4, count: 2, value: z6}
	case c < 0xd0: // save_regp_x
		return arm64Op{kind: armSave, reg: 19 + x4, count: 2, pre: z6 + 8}
	case c < 0xd4: // save_reg
		return arm64Op{kind: armSave, reg: 19 + x4, count: 1, value: z6}
	case c < 0xd6: // save_reg_x
		return arm64Op{kind: armSave, reg: 19 + target.Reg(w>>5&15), count: 1, pre: 8*(w&31) + 8}
	case c < 0xd8: // save_lrpair
		return arm64Op{kind: armSaveLR, reg: 19 + 2*(x4&7), value: z6}
	case c < 0xda: // save_fregp
		return arm64Op{kind: armSaveD, reg: 8 + x4&7, count: 2, value: z6}
	case c < 0xdc: // save_fregp_x
		return arm64Op{kind: armSaveD, reg: 8 + x4&7, count: 2, pre: z6 + 8}
	case c < 0xde: // save_freg
		return arm64Op{kind: armSaveD, reg: 8 + x4&7, count: 1, value: z6}
	case c == 0xde: // save_freg_x
		return arm64Op{kind: armSaveD, reg: 8 + target.Reg(w>>5&7), count: 1, pre: 8*(w&31) + 8}
	case c == 0xe0: // alloc_l
		return arm64Op{kind: armAlloc, value: 16 * (uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]))}
	case c == 0xe1: // set_fp
		return arm64Op{kind: armSetFP}
	case c == 0xe2: // add_fp
		return arm64Op{kind: armSetFP, value: 8 * uint32(b[1])}
	case c == 0xe3, c == 0xec, c == 0xfc: // nop, clear_unwound_to_call, pac_sign_lr
		return arm64Op{kind: armNop}
	case c == 0xe6: // save_next
		return arm64Op{kind: armNext}
	case c == 0xe7:
		return anyRegister(b)
	case c == 0xe9: // machine frame
		return arm64Op{kind: armMachine}
	}
	return arm64Op{kind: armUnknown, value: uint32(b[0])}
}

// anyRegister decodes save_any_reg: one register or a pair, general or vector, with or without lowering SP.
func anyRegister(b []byte) arm64Op {
	pair, pre, reg := b[1]>>6&1, b[1]>>5&1 != 0, target.Reg(b[1]&31)
	op := arm64Op{count: 1 + pair, reg: reg}
	unit := uint32(8)
	switch b[2] >> 6 {
	case 0:
		op.kind = armSave
	case 1:
		op.kind = armSaveD
	case 2:
		op.kind, unit = armSaveQ, 16
	default:
		return arm64Op{kind: armUnknown, value: uint32(b[0])}
	}
	if b[1]&0x80 != 0 || op.kind == armSave && reg+target.Reg(pair) > target.ARM64LR {
		return arm64Op{kind: armUnknown, value: uint32(b[0])}
	}
	if pre || pair != 0 {
		unit = 16
	}
	if distance := unit * uint32(b[2]&63); pre {
		op.pre = distance
	} else {
		op.value = distance
	}
	return op
}

// unpack creates the codes of a packed entry. It describes a prologue of a prescribed form, and the
// only epilogue mirrors it.
func (a *arm64Info) unpack(w uint32) {
	regF, regI, home, cr, frame := w>>13&7, w>>16&15, w>>20&1, w>>21&3, 16*(w>>23)
	ints, floats := 8*regI, 8*regF
	if cr == 1 {
		ints += 8
	}
	if regF != 0 {
		floats += 8
	}
	saved := (ints + floats + 64*home + 15) &^ 15
	locals := frame - min(saved, frame)
	var prolog []arm64Op // in the order of execution
	if cr == 2 {
		prolog = append(prolog, arm64Op{kind: armNop}) // pacibsp
	}
	prolog = append(prolog, packedSaves(regI, cr == 1, saved)...)
	for i := uint32(0); i < floats/8; i += 2 {
		op := arm64Op{kind: armSaveD, reg: target.Reg(8 + i), count: uint8(min(2, floats/8-i)), value: ints + 8*i}
		if i == 0 && ints == 0 {
			op.pre = saved
		}
		prolog = append(prolog, op)
	}
	epilog := slices.Clone(prolog) // without the following codes, which have nothing to undo
	for range 4 * home {
		prolog = append(prolog, arm64Op{kind: armNop})
	}
	frameOps := packedFrame(cr >= 2, locals)
	prolog, epilog = append(prolog, frameOps...), append(epilog, frameOps...)
	if cr >= 2 {
		prolog = append(prolog, arm64Op{kind: armSetFP})
	}
	slices.Reverse(prolog)
	slices.Reverse(epilog)
	a.ops.ops = prolog
	if w&3 == 2 {
		return // a fragment: all of the prologue has run
	}
	a.ops.own = uint32(len(prolog))
	if words, n := w>>2&(1<<11-1), uint32(len(epilog)); n < words {
		a.epilogs = []arm64Epilog{{words - n - 1, arm64Codes{epilog, n}}}
	}
}

// packedFrame allocates the locals and, in a chained frame, stores FP and LR below them.
func packedFrame(chained bool, locals uint32) []arm64Op {
	fplr := arm64Op{kind: armSave, reg: target.ARM64FP, count: 2}
	switch {
	case chained && locals <= 512:
		fplr.pre = locals
		return []arm64Op{fplr}
	case chained:
		return append(packedAlloc(locals), fplr)
	}
	return packedAlloc(locals)
}

// packedSaves returns the stores of n registers from X19 on, and of LR.
func packedSaves(n uint32, lr bool, saved uint32) []arm64Op {
	var ops []arm64Op
	for i := uint32(0); i < n; i += 2 {
		op := arm64Op{kind: armSave, reg: target.Reg(19 + i), count: uint8(min(2, n-i)), value: 8 * i}
		if op.count == 1 && lr {
			op.kind, lr = armSaveLR, false
		}
		ops = append(ops, op)
	}
	if lr {
		ops = append(ops, arm64Op{kind: armSave, reg: target.ARM64LR, count: 1, value: 8 * n})
	}
	if len(ops) > 0 {
		ops[0].pre = saved
	}
	return ops
}

// packedAlloc lowers SP. More than 4080 bytes take two instructions.
func packedAlloc(n uint32) []arm64Op {
	switch {
	case n == 0:
		return nil
	case n > 4080:
		return []arm64Op{{kind: armAlloc, value: 4080}, {kind: armAlloc, value: n - 4080}}
	}
	return []arm64Op{{kind: armAlloc, value: n}}
}

// codesToUndo returns the codes to undo at an offset in instructions.
func (a *arm64Info) codesToUndo(at uint32, exact bool) []arm64Op {
	if !exact {
		return a.ops.ops // after a call, so in the body
	}
	if at < a.ops.own {
		return a.ops.ops[a.ops.own-at:]
	}
	for i := range a.epilogs {
		if e := &a.epilogs[i]; at >= e.start && at-e.start <= e.ops.own {
			return e.ops.ops[at-e.start:]
		}
	}
	return a.ops.ops
}

// infoARM64 returns the decoded unwind data of code.
func (u *Unwinder) infoARM64(code Code) *windowsInfo {
	if wi := u.cachedInfo(code.key()); wi != nil {
		return wi
	}
	return u.keep(code.key(), u.decodeARM64(code))
}

// framedARM64 implements Framed.
func (c *Cursor) framedARM64(f *Frame, ip target.Addr) bool {
	wi := c.u.infoARM64(f.Code)
	if wi.err != nil {
		return true
	}
	at := uint32((ip - f.Code.Range.Start) / 4)
	return at >= wi.arm64.ops.own && !slices.ContainsFunc(wi.arm64.epilogs, func(e arm64Epilog) bool {
		return at > e.start && at-e.start <= e.ops.own
	})
}

func (c *Cursor) stepARM64(f *Frame, exact bool) error {
	wi := c.u.infoARM64(f.Code)
	if wi.err != nil {
		return wi.err
	}
	ip, _ := f.Regs.IP()
	sp, ok := f.Regs.Get(target.ARM64SP)
	if !ok {
		return target.Unsupportedf("the stack pointer is not known")
	}
	next := uint8(0)
	for _, op := range wi.arm64.codesToUndo(uint32((ip-f.Code.Range.Start)/4), exact) {
		switch op.kind {
		case armAlloc:
			sp += uint64(op.value)
		case armSetFP:
			fp, ok := f.Regs.Get(target.ARM64FP)
			if !ok {
				return target.Unsupportedf("the frame pointer is not known")
			}
			sp = fp - uint64(op.value)
		case armNext:
			next++
		case armSave, armSaveLR, armSaveD, armSaveQ:
			if err := c.restoreARM64(f, &op, sp, next); err != nil {
				return err
			}
			next, sp = 0, sp+uint64(op.pre)
		case armMachine: // SP, PC
			b, err := c.win.Bytes(target.Addr(sp), 16)
			if err != nil {
				return err
			}
			f.Regs.Set(target.ARM64SP, binary.LittleEndian.Uint64(b))
			f.Regs.Set(target.ARM64PC, binary.LittleEndian.Uint64(b[8:]))
			f.Regs.ForgetVectors()
			f.Exact = true
			return nil
		case armUnknown:
			return target.Unsupportedf("unwind code %#02x", op.value)
		}
	}
	f.Regs.Set(target.ARM64SP, sp)
	return c.returnARM64(f)
}

// restoreARM64 loads the registers of a save, and of the save_next codes before it.
func (c *Cursor) restoreARM64(f *Frame, op *arm64Op, sp uint64, next uint8) error {
	at := target.Addr(sp + uint64(op.value))
	if op.kind == armSaveLR {
		b, err := c.win.Bytes(at, 16)
		if err != nil {
			return err
		}
		f.Regs.Set(op.reg, binary.LittleEndian.Uint64(b))
		f.Regs.Set(target.ARM64LR, binary.LittleEndian.Uint64(b[8:]))
		return nil
	}
	n, size := int(op.count)+2*int(next), 8
	if op.kind == armSaveQ {
		size = 16
	}
	b, err := c.win.Bytes(at, size*n)
	if err != nil {
		return err
	}
	for i := range n {
		v := binary.LittleEndian.Uint64(b[size*i:])
		if op.kind != armSave {
			f.Regs.SetVectorLow(int(op.reg)+i, v)
		} else if r := op.reg + target.Reg(i); r <= target.ARM64LR {
			f.Regs.Set(r, v)
		}
	}
	return nil
}

// returnARM64 continues at the address in the link register.
func (c *Cursor) returnARM64(f *Frame) error {
	lr, ok := f.Regs.Get(target.ARM64LR)
	if !ok {
		return target.Unsupportedf("the link register is not known")
	}
	f.Regs.SetIP(f.Regs.Code(lr)) // without the signature of pac_sign_lr and paciasp
	for r := target.Reg(0); r < 19; r++ {
		f.Regs.Forget(r)
	}
	return nil
}
