// Package disasm lists the code of methods: their IL, with what its tokens
// name, and the machine's instructions, with the addresses that they name told
// apart from the text, so that a caller can say what lies there.
//
// Of machine code only AMD64 is known. The text is that of golang.org/x/arch in Intel syntax.
package disasm

import (
	"bytes"
	"iter"
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/sosgo/sosgo/target"
)

// A RefKind says how an instruction uses an address that it names.
type RefKind uint8

// The kinds of reference.
const (
	RefNone      RefKind = iota
	RefCall              // calls what lies there
	RefJump              // goes there
	RefCallSlot          // calls what the pointer there points to
	RefJumpSlot          // goes to what the pointer there points to
	RefMemory            // reads or writes there
	RefAddress           // loads the address itself
	RefImmediate         // loads a number of 64 bits, which may be an address
)

// An Instruction is one machine instruction.
type Instruction struct {
	Addr  target.Addr
	Bytes []byte
	Text  string // mnemonic and operands; empty for bytes that are no instruction

	Kind RefKind
	Ref  target.Addr // by Kind
}

// longest is the most bytes that an AMD64 instruction has.
const longest = 15

// Decode yields the instructions of code, which lies at address at. Bytes that
// are no instruction are passed over one by one. Every byte of code is in
// exactly one instruction.
func Decode(code []byte, at target.Addr) iter.Seq[Instruction] {
	return func(yield func(Instruction) bool) {
		for len(code) > 0 {
			in := decodeOne(code, at)
			if !yield(in) {
				return
			}
			code, at = code[len(in.Bytes):], at+target.Addr(len(in.Bytes))
		}
	}
}

func decodeOne(code []byte, at target.Addr) Instruction {
	inst, ok := decode(code[:min(len(code), longest)])
	if !ok {
		return Instruction{Addr: at, Bytes: code[:1]}
	}
	in := Instruction{Addr: at, Bytes: code[:inst.Len]}
	in.Kind, in.Ref = reference(inst, at+target.Addr(inst.Len))
	in.Text = text(inst, at, in.Ref)
	return in
}

var vzeroupper = []byte{0xc5, 0xf8, 0x77}

// decode decodes the instruction at code[0]. The decoder is another project's,
// and the bytes are whatever the dump holds: it must not end the process.
func decode(code []byte) (inst x86asm.Inst, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if bytes.HasPrefix(code, vzeroupper) {
		// Followed by others, the decoder gives it two bytes of them.
		code = code[:len(vzeroupper)]
	}
	inst, err := x86asm.Decode(code, 64)
	return inst, err == nil && inst.Len > 0 && inst.Len <= len(code)
}

// mnemonicWidth is the column of the operands.
const mnemonicWidth = 8

// ripOperand is what the decoder prints for an operand relative to the next
// instruction, up to its displacement.
const ripOperand = "[rip"

// text is the instruction in Intel syntax. Operands relative to the next
// instruction have their address, which is ref.
func text(inst x86asm.Inst, at, ref target.Addr) (s string) {
	defer func() {
		if recover() != nil {
			s = strings.ToLower(inst.Op.String())
		}
	}()
	s = x86asm.IntelSyntax(inst, uint64(at), nil)
	if before, after, ok := strings.Cut(s, ripOperand); ok {
		if _, rest, ok := strings.Cut(after, "]"); ok {
			s = before + "[0x" + strconv.FormatUint(uint64(ref), 16) + "]" + rest
		}
	}
	s = strings.Replace(s, ", ptr [", ", [", 1)
	name, operands, ok := strings.Cut(s, " ")
	if !ok || len(name) >= mnemonicWidth {
		return s
	}
	return name + strings.Repeat(" ", mnemonicWidth-len(name)) + operands
}

// reference finds the address that an instruction names; next is that of the
// instruction behind it.
func reference(inst x86asm.Inst, next target.Addr) (RefKind, target.Addr) {
	for i, arg := range inst.Args {
		switch a := arg.(type) {
		case x86asm.Rel:
			to := next + target.Addr(int64(a))
			if inst.Op == x86asm.CALL {
				return RefCall, to
			}
			return RefJump, to
		case x86asm.Mem:
			if a.Base == x86asm.RIP && a.Index == 0 {
				// The decoder may not have extended the sign.
				return memoryKind(inst.Op), next + target.Addr(int64(int32(a.Disp)))
			}
		case x86asm.Imm:
			if inst.Op == x86asm.MOV && i == 1 && inst.DataSize == 64 && uint64(a) > 1<<16 {
				return RefImmediate, target.Addr(a)
			}
		}
	}
	return RefNone, 0
}

func memoryKind(op x86asm.Op) RefKind {
	switch op {
	case x86asm.CALL:
		return RefCallSlot
	case x86asm.JMP:
		return RefJumpSlot
	case x86asm.LEA:
		return RefAddress
	}
	return RefMemory
}
