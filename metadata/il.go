package metadata

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
)

// An Opcode is an IL instruction: one byte, or 0xFE and a second one.
type Opcode uint16

// info describes the opcode. The name is empty for an unknown opcode.
func (o Opcode) info() opcodeInfo {
	switch o >> 8 {
	case 0:
		return opcodes()[0][o]
	case opcodePrefix:
		return opcodes()[1][o&0xFF]
	}
	return opcodeInfo{}
}

// String returns the name of the opcode in the assembler: "ldc.i4.0".
func (o Opcode) String() string {
	if n := o.info().name; n != "" {
		return n
	}
	return fmt.Sprintf("Opcode(%#x)", uint16(o))
}

const opcodePrefix = 0xFE

// An OperandKind is the kind of an opcode's operand.
type OperandKind uint8

// The kinds of operands.
const (
	OperandNone      OperandKind = iota
	OperandVar8                  // number of a local variable or argument
	OperandVar16                 // the same in two bytes
	OperandUint8                 // alignment, or the checks to skip
	OperandInt8                  // constant
	OperandInt32                 // constant
	OperandInt64                 // constant
	OperandFloat32               // constant
	OperandFloat64               // constant
	OperandBranch8               // IL offset, relative to the next instruction
	OperandBranch32              // the same in four bytes
	OperandSwitch                // table of IL offsets
	OperandMethod                // token
	OperandField                 // token
	OperandType                  // token
	OperandToken                 // token of a type, method or field
	OperandString                // token of a user string
	OperandSignature             // token of a StandAloneSig
)

// operandSizes holds the sizes in bytes. The size of a Switch is the size of its count.
var operandSizes = [...]int{
	OperandNone: 0, OperandVar8: 1, OperandVar16: 2, OperandUint8: 1, OperandInt8: 1,
	OperandInt32: 4, OperandInt64: 8, OperandFloat32: 4, OperandFloat64: 8,
	OperandBranch8: 1, OperandBranch32: 4, OperandSwitch: 4, OperandMethod: 4,
	OperandField: 4, OperandType: 4, OperandToken: 4, OperandString: 4, OperandSignature: 4,
}

// IsToken reports whether the operand is a metadata token.
func (k OperandKind) IsToken() bool { return k >= OperandMethod }

// An Instruction is one decoded IL instruction.
type Instruction struct {
	Offset int // of the opcode in the code, in bytes
	Size   int // bytes, with the operand
	Opcode Opcode
	Kind   OperandKind

	value uint64
	table []byte
}

// Int returns the operand of Var, Uint8 and Int kinds.
func (i *Instruction) Int() int64 { return int64(i.value) }

// Float returns the operand of Float32 and Float64.
func (i *Instruction) Float() float64 {
	if i.Kind == OperandFloat32 {
		return float64(math.Float32frombits(uint32(i.value)))
	}
	return math.Float64frombits(i.value)
}

// Token returns the operand of the kinds with IsToken.
func (i *Instruction) Token() Token { return Token(i.value) }

// Target returns the IL offset of a branch's target. It may be outside the code.
func (i *Instruction) Target() int { return i.Offset + i.Size + int(int64(i.value)) }

// Targets iterates over the IL offsets of a switch's targets, by value.
func (i *Instruction) Targets() iter.Seq[int] {
	return func(yield func(int) bool) {
		for t := i.table; len(t) >= 4; t = t[4:] {
			if !yield(i.Offset + i.Size + int(int32(binary.LittleEndian.Uint32(t)))) {
				return
			}
		}
	}
}

// Instructions decodes IL code, one instruction after the other. It ends after the first error: an unknown
// opcode, or an operand that passes the end.
func Instructions(code []byte) iter.Seq2[Instruction, error] {
	return func(yield func(Instruction, error) bool) {
		for off := 0; off < len(code); {
			i, err := decodeInstruction(code, off)
			if !yield(i, err) || err != nil {
				return
			}
			off += i.Size
		}
	}
}

func decodeInstruction(code []byte, off int) (Instruction, error) {
	i := Instruction{Offset: off, Opcode: Opcode(code[off]), Size: 1}
	if i.Opcode == opcodePrefix {
		if len(code)-off < 2 {
			return i, corruptf(off, "IL ends in an opcode")
		}
		i.Opcode = opcodePrefix<<8 | Opcode(code[off+1])
		i.Size = 2
	}
	info := i.Opcode.info()
	if info.name == "" {
		return i, corruptf(off, "unknown IL opcode %#x", uint16(i.Opcode))
	}
	i.Kind = info.operand
	n := operandSizes[i.Kind]
	rest := code[off+i.Size:]
	if n > len(rest) {
		return i, corruptf(off, "IL ends in the operand of %s", i.Opcode)
	}
	i.Size += n
	i.value = operandValue(i.Kind, rest[:n])
	if i.Kind == OperandSwitch {
		return i, i.readSwitch(rest[n:])
	}
	return i, nil
}

// readSwitch takes the targets that follow the count of a switch.
func (i *Instruction) readSwitch(rest []byte) error {
	if i.value > uint64(len(rest)/4) {
		return corruptf(i.Offset, "switch of %d targets, %d bytes are left", i.value, len(rest))
	}
	i.table = rest[:4*i.value]
	i.Size += len(i.table)
	return nil
}

// operandValue decodes an operand. Constants and branch distances are sign-extended.
func operandValue(k OperandKind, b []byte) uint64 {
	switch k {
	case OperandNone:
		return 0
	case OperandVar8, OperandUint8:
		return uint64(b[0])
	case OperandVar16:
		return uint64(binary.LittleEndian.Uint16(b))
	case OperandInt8, OperandBranch8:
		return uint64(int8(b[0]))
	case OperandInt32, OperandBranch32:
		return uint64(int32(binary.LittleEndian.Uint32(b)))
	case OperandInt64, OperandFloat64:
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(binary.LittleEndian.Uint32(b))
}
