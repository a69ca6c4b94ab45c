// Package disasm lists the code of methods: their IL, with what its tokens
// name, and the machine's instructions, with the addresses that they name told
// apart from the text, so that a caller can say what lies there.
//
// Of machine code AMD64 and ARM64 are known. The text is that of golang.org/x/arch,
// in Intel syntax and in GNU's.
package disasm

import (
	"iter"

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

	flow flow
}

// A flow says where the processor goes on after an instruction.
type flow uint8

const (
	flowNext    flow = iota // behind it, or where it jumps if a condition is met
	flowJump                // elsewhere in any case
	flowReturn              // to the caller
	flowUnknown             // an instruction that is not known
)

// Known reports whether instructions of a processor are known.
func Known(arch target.Arch) bool { return arch == target.ArchAMD64 || arch == target.ArchARM64 }

// Decode yields the instructions of code of a processor, which lies at address at. Bytes
// that are no instruction are passed over, as few as instructions can have; of a
// processor that is not Known all are. Every byte of code is in exactly one instruction.
//
// An address that several instructions put together is with the last of them, and with
// those that use it.
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

// decoderOf is what decodes the instructions of code, in their order.
func decoderOf(arch target.Arch, code []byte, at target.Addr) func(code []byte, at target.Addr) Instruction {
	switch arch {
	case target.ArchAMD64:
		return decodeAMD64
	case target.ArchARM64:
		return newARM64(code, at).decode
	}
	return func(code []byte, at target.Addr) Instruction { return Instruction{Addr: at, Bytes: code[:1]} }
}
