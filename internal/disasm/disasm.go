// Package disasm disassembles methods, as IL with the names of tokens, and as machine code of AMD64 and ARM64. The text
// comes from golang.org/x/arch, in Intel and GNU syntax. Addresses are separate from the text, so that a caller can
// describe what they refer to. The package does not find methods: see packages dac and code. Start at [Lister];
// [Decode] works without a dump.
package disasm

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// A RefKind is how an instruction uses an address.
type RefKind uint8

// The kinds of references.
const (
	RefNone      RefKind = iota
	RefCall              // calls the address
	RefJump              // jumps to the address
	RefCallSlot          // calls through a pointer at the address
	RefJumpSlot          // jumps through a pointer at the address
	RefMemory            // reads or writes memory at the address
	RefAddress           // loads the address itself
	RefImmediate         // loads a 64-bit number, which may be an address
)

// An Instruction is one machine instruction.
type Instruction struct {
	Addr  target.Addr
	Bytes []byte
	Text  string // mnemonic and operands; empty for invalid bytes

	Kind RefKind
	Ref  target.Addr // the address that Kind refers to

	flow flow
}

// A flow describes where execution continues after an instruction.
type flow uint8

const (
	flowNext    flow = iota // at the next instruction, or elsewhere on a condition
	flowJump                // elsewhere
	flowReturn              // in the caller
	flowUnknown             // the instruction is unknown
)

// Known reports whether the package can decode the instructions of a processor.
func Known(arch target.Arch) bool { return arch == target.ArchAMD64 || arch == target.ArchARM64 }

// Decode yields the instructions of the code at address at. Bytes that are not an instruction become an Instruction
// without text, of the minimum length. If the processor is not Known, all bytes do. Every byte is in exactly one
// instruction.
//
// An address that several instructions build together is the Ref of the last one, and of the instructions that use it.
func Decode(arch target.Arch, code []byte, at target.Addr) iter.Seq[Instruction] {
	return func(yield func(Instruction) bool) {
		one := decoderOf(arch, code, at)
		for len(code) > 0 {
			in := one(code, at)
			if !yield(in) {
				return
			}
			code, at = code[len(in.Bytes):], at+target.Addr(len(in.Bytes))
		}
	}
}

// decoderOf returns a function that decodes the instructions of code in order.
func decoderOf(arch target.Arch, code []byte, at target.Addr) func(code []byte, at target.Addr) Instruction {
	switch arch {
	case target.ArchAMD64:
		return decodeAMD64
	case target.ArchARM64:
		return newARM64(code, at).decode
	}
	return func(code []byte, at target.Addr) Instruction { return Instruction{Addr: at, Bytes: code[:1]} }
}
