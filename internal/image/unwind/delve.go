package unwind

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
	"sync"

	"github.com/go-delve/delve/pkg/dwarf/frame"
	"github.com/go-delve/delve/pkg/dwarf/op"

	"github.com/sosgo/sosgo/target"
)

// This file alone uses delve's parsers of call frame information and DWARF expressions. They are
// written for debuggers of trusted programs and panic on bad data, so recoverPanic surrounds each
// call.

// recoverPanic calls f and converts a panic of the parsers to an error.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = target.Corruptf("call frame information: %v", r)
		}
	}()
	return f()
}

// An fde is one entry of a table: the rules of a function.
type fde struct {
	code      target.Range
	entry     *frame.FrameDescriptionEntry
	returnReg uint64
	signal    bool
	err       error

	mu   sync.Mutex
	rows []*dwarfRow // sorted by pc; only rows that were looked up
}

// maxRows limits the cached rows of an fde.
const maxRows = 4096

type ruleKind uint8

const (
	ruleUndefined ruleKind = iota
	ruleSame
	ruleOffset        // saved at CFA + offset
	ruleRegister      // in another register
	ruleExpression    // saved at the address that an expression computes
	ruleValExpression // the value that an expression computes
	ruleCFA           // register + offset, for the CFA itself
)

type dwarfRule struct {
	kind   ruleKind
	reg    uint64
	other  uint64
	offset int64
	expr   []byte
}

// A dwarfRow is the row of an FDE's program for one address.
type dwarfRow struct {
	pc    uint64
	cfa   dwarfRule
	rules []dwarfRule // by register
	err   error
}

// parseFDE decodes an FDE at an address and its CIE, both with their length words.
func parseFDE(cie, entry []byte, at target.Addr) (*fde, error) {
	if len(cie)%4 != 0 { // keep the next FDE aligned
		return nil, target.Corruptf("a CIE of %d bytes", len(cie))
	}
	b := append(append(make([]byte, 0, len(cie)+len(entry)), cie...), entry...)
	augmentation := blankAugmentation(b[:len(cie)])
	binary.LittleEndian.PutUint32(b[len(cie)+4:], uint32(len(cie)+4))
	ehAddr := uint64(at) - uint64(len(cie))
	if ehAddr == 0 { // delve would read a .debug_frame
		return nil, target.Corruptf("an FDE at %#x", uint64(at))
	}
	var f *fde
	err := recoverPanic(func() error {
		entries, err := frame.Parse(b, binary.LittleEndian, 0, 8, ehAddr)
		if err != nil {
			return target.Corruptf("FDE %#x: %v", uint64(at), err)
		}
		if len(entries) != 1 {
			return target.Corruptf("FDE %#x: %d entries in its bytes", uint64(at), len(entries))
		}
		e := entries[0]
		if e.CIE.CodeAlignmentFactor == 0 {
			return target.Corruptf("FDE %#x: a code alignment of 0", uint64(at))
		}
		f = &fde{entry: e, code: target.Range{Start: target.Addr(e.Begin()), End: target.Addr(e.End())},
			returnReg: e.CIE.ReturnAddressRegister, signal: isSignalFrame(augmentation)}
		blankSignatures(e.CIE.InitialInstructions)
		blankSignatures(e.Instructions)
		if f.code.End < f.code.Start {
			return target.Corruptf("FDE %#x covers %#x bytes at %#x", uint64(at), e.End()-e.Begin(), e.Begin())
		}
		return nil
	})
	return f, err
}

// blankAugmentation returns the augmentation of a CIE, and removes from the CIE letters that the
// parser does not know and that have no data: B (the key for signed return addresses) and G (tagged
// frames) of DWARF for the Arm 64-bit Architecture, and S.
func blankAugmentation(cie []byte) string {
	const start = 9 // after length, id and version
	n := bytes.IndexByte(cie[min(start, len(cie)):], 0)
	if n < 0 {
		return ""
	}
	text := cie[start : start+n]
	was := string(text)
	for i, c := range text {
		if i > 0 && (c == 'B' || c == 'G') {
			text[i] = 'S'
		}
	}
	return was
}

// The operands of call frame instructions (DWARF 5, 7.24; Linux Standard Base, "Exception Frames"):
// u is a LEB128 number, b a block, a digit the number of bytes.
var operandsCFA = map[byte]string{0x00: "", 0x01: "8", 0x02: "1", 0x03: "2", 0x04: "4", 0x05: "uu", 0x06: "u", 0x07: "u", 0x08: "u", 0x09: "uu", 0x0a: "",
	0x0b: "", 0x0c: "uu", 0x0d: "u", 0x0e: "u", 0x0f: "b", 0x10: "ub", 0x11: "uu", 0x12: "uu", 0x13: "u", 0x14: "uu", 0x15: "uu", 0x16: "ub", 0x2d: "", 0x2e: "u"}

// blankSignatures replaces instructions that toggle the signing of the return address
// (DW_CFA_AARCH64_negate_ra_state) with no-operations. The parser does not know them, and the
// address itself shows the signature.
func blankSignatures(program []byte) {
	const negate, nop = 0x2d, 0x00
	for i := 0; i < len(program); {
		op := program[i]
		at := i
		i++
		operands, known := operandsCFA[op]
		switch op >> 6 {
		case 1, 3: // advance_loc, restore
			continue
		case 2: // offset
			operands, known = "u", true
		}
		if !known {
			return
		}
		if op == negate {
			program[at] = nop
		}
		for _, o := range operands {
			switch o {
			case 'u':
				_, i = uleb(program, i)
			case 'b':
				var n uint64
				n, i = uleb(program, i)
				i += int(min(n, uint64(len(program))))
			default:
				i += int(o - '0')
			}
		}
	}
}

// uleb reads a LEB128 number, truncated to 64 bits, and returns the index of its end.
func uleb(b []byte, i int) (v uint64, end int) {
	for shift := 0; i < len(b); shift += 7 {
		c := b[i]
		i++
		if shift < 63 {
			v |= uint64(c&0x7f) << shift
		}
		if c < 0x80 {
			break
		}
	}
	return v, i
}

func (f *fde) row(pc uint64) (*dwarfRow, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := sort.Search(len(f.rows), func(i int) bool { return f.rows[i].pc >= pc })
	if i < len(f.rows) && f.rows[i].pc == pc {
		return f.rows[i], f.rows[i].err
	}
	r := &dwarfRow{pc: pc}
	r.err = recoverPanic(func() error { return f.run(r) })
	if len(f.rows) < maxRows {
		f.rows = append(f.rows, nil)
		copy(f.rows[i+1:], f.rows[i:])
		f.rows[i] = r
	}
	return r, r.err
}

// run executes the program of f up to r's address.
func (f *fde) run(r *dwarfRow) error {
	ctx, err := f.entry.EstablishFrame(r.pc)
	if err != nil {
		return target.Corruptf("call frame program: %v", err)
	}
	if r.cfa, err = convert(0, ctx.CFA); err != nil {
		return err
	}
	for reg, rule := range ctx.Regs {
		c, err := convert(reg, rule)
		if err != nil {
			return err
		}
		r.rules = append(r.rules, c)
	}
	sort.Slice(r.rules, func(i, j int) bool { return r.rules[i].reg < r.rules[j].reg })
	return nil
}

// convert converts a rule. The parser does not scale the offset of DW_CFA_val_offset, which no
// compiler emits, and represents DW_CFA_val_offset_sf in the same way, so both are rejected.
func convert(reg uint64, d frame.DWRule) (dwarfRule, error) {
	r := dwarfRule{reg: reg, other: d.Reg, offset: d.Offset, expr: d.Expression}
	switch d.Rule {
	case frame.RuleUndefined:
		r.kind = ruleUndefined
	case frame.RuleSameVal:
		r.kind = ruleSame
	case frame.RuleOffset:
		r.kind = ruleOffset
	case frame.RuleRegister:
		r.kind = ruleRegister
	case frame.RuleExpression:
		r.kind = ruleExpression
	case frame.RuleValExpression:
		r.kind = ruleValExpression
	case frame.RuleCFA:
		r.kind = ruleCFA
	default:
		return r, target.Unsupportedf("call frame rule %d", d.Rule)
	}
	return r, nil
}

// opConst8u is DW_OP_const8u: the stack of a register's expression starts with the CFA (DWARF 5,
// 6.4.2.3).
const opConst8u = 0x0e

// expression evaluates a DWARF expression with the registers of f.
func (c *Cursor) expression(f *Frame, program []byte, cfa uint64, withCFA bool) (uint64, error) {
	if withCFA {
		p := binary.LittleEndian.AppendUint64([]byte{opConst8u}, cfa)
		program = append(p, program...)
	}
	regs := make([]*op.DwarfRegister, 17)
	if f.Regs.Arch == target.ArchARM64 {
		regs = make([]*op.DwarfRegister, 33)
	}
	for n := range regs {
		if r, ok := fromDWARF(f.Regs.Arch, uint64(n)); ok {
			if v, known := f.Regs.Get(r); known {
				regs[n] = op.DwarfRegisterFromUint64(v)
			}
		}
	}
	var missing error
	read := func(p []byte, a uint64) (int, error) {
		n, err := c.u.mem.ReadMemory(p, target.Addr(a))
		if err != nil {
			missing = err
		}
		return n, err
	}
	var v int64
	err := recoverPanic(func() error {
		dr := op.NewDwarfRegisters(0, regs, binary.LittleEndian, 16, 7, 6, 30)
		// The interpreter treats an unknown register as zero, but calls this function first.
		dr.SetLoadMoreCallback(func() { missing = target.Unsupportedf("a call frame expression needs a register that is not known") })
		var err error
		v, _, err = op.ExecuteStackProgram(*dr, program, 8, read)
		return err
	})
	if missing != nil {
		return 0, missing
	}
	if err != nil {
		return 0, fmt.Errorf("call frame expression: %v: %w", err, target.ErrCorrupt)
	}
	return uint64(v), nil
}
