package target

import (
	"math/bits"
	"slices"
	"sync"
)

// This file alone defines the processors and how compiled code uses them. A new architecture needs
// a Processor and its ABIs here, and in the packages of the formats: unwind codes in unwind, the
// widths of GC info in codeinfo, the kernel's order of registers in elfcore.

// A RegSet is a set of registers of one architecture: bit n is Reg(n).
type RegSet uint64

// Regs returns the set of the given registers.
func Regs(regs ...Reg) RegSet {
	var s RegSet
	for _, r := range regs {
		s |= 1 << r
	}
	return s
}

// Has reports whether r is in the set.
func (s RegSet) Has(r Reg) bool { return r < 64 && s&(1<<r) != 0 }

// All calls yield for each register of the set, in the architecture's order.
func (s RegSet) All(yield func(Reg) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(Reg(bits.TrailingZeros64(uint64(s)))) {
			return
		}
	}
}

// A Processor describes the registers of an architecture and how its instructions use the stack. It
// is read-only.
type Processor struct {
	Arch       Arch
	IP, SP, FP Reg // instruction, stack and frame pointer
	// Link is the register that a call stores the return address in, or NoReg if a call pushes it.
	Link    Reg
	General RegSet // the registers that can hold the address of an object
	// Preserved are the registers that a callee preserves under every convention of the processor.
	// It does not include SP, which a return restores.
	Preserved RegSet
	// PreservedVectors are the vector registers with lower 64 bits that a callee preserves under
	// every convention.
	PreservedVectors  RegSet
	ReturnAddressSize int // the number of bytes that a call pushes
	// AddressBits is the width of a virtual address with the largest page tables. The bits above
	// repeat the highest one, which separates the system's half from the processes'. ARM64 has
	// tables of 52 bits for each half.
	AddressBits int
	// CodeBits is the width of code addresses if the bits above may hold a signature (pointer
	// authentication), otherwise 0. On ARM64 it is 48 also with larger addresses: a process gets
	// memory above only on request, and no loader requests it.
	CodeBits int
	// TagBits is the number of upper bits that the processor ignores in data addresses, so that
	// they may hold a tag (top byte ignore, memory tagging).
	TagBits int
	Context ContextLayout
	Vectors VectorFile // the vector registers in Registers.Float
	// Rows are the registers in the groups of listings, the frame's registers first. On AMD64 the
	// groups are SOS's.
	Rows [][]Reg

	names []string // by Reg, as debuggers print them
}

// NoReg means no register.
const NoReg Reg = 0xff

// The processors with supported registers. They are made on first use, like the conventions, so
// that they don't slow down the start of a program.
var (
	amd64 = sync.OnceValue(func() *Processor {
		return &Processor{
			Arch: ArchAMD64, IP: RIP, SP: RSP, FP: RBP, Link: NoReg,
			General:           1<<(R15+1) - 1,
			Preserved:         Regs(RBX, RBP, R12, R13, R14, R15),
			ReturnAddressSize: 8,
			AddressBits:       57, // five-level paging
			Context:           contextAMD64(),
			Vectors:           VectorFile{Name: "xmm", Count: 16, Offset: fxXMM, Size: fxSize},
			Rows:              [][]Reg{{RSP, RBP, RIP}, {RAX, RBX, RCX}, {RDX, RSI, RDI}, {R8, R9, R10}, {R11, R12, R13}, {R14, R15}},
			names: []string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
				"r13", "r14", "r15", "rip", "eflags", "cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base"},
		}
	})
	arm64 = sync.OnceValue(func() *Processor {
		return &Processor{
			Arch: ArchARM64, IP: ARM64PC, SP: ARM64SP, FP: ARM64FP, Link: ARM64LR,
			General:          1<<(ARM64LR+1) - 1,
			Preserved:        1<<(ARM64FP+1) - 1<<(ARM64X0+19), // X19 to X28, FP
			PreservedVectors: 1<<16 - 1<<8,                     // D8 to D15
			AddressBits:      53, CodeBits: 48, TagBits: 8,
			Context: contextARM64(),
			Vectors: VectorFile{Name: "v", Count: 32, Size: vectorsARM64},
			Rows:    rowsARM64(),
			names: []string{"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
				"x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "fp", "lr",
				"sp", "pc", "cpsr"},
		}
	})
)

// The processors with supported registers and unsupported stacks: dumps of their processes open,
// but .NET's structures in them are not interpreted.
var (
	processor386 = sync.OnceValue(func() *Processor {
		return &Processor{
			Arch: Arch386, IP: X86EIP, SP: X86ESP, FP: X86EBP, Link: NoReg, General: 1<<(X86EDI+1) - 1, ReturnAddressSize: 4, AddressBits: 32,
			Context: context386(), names: []string{"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip", "eflags", "cs", "ss", "ds", "es", "fs", "gs"},
		}
	})
	processorARM = sync.OnceValue(func() *Processor {
		return &Processor{
			Arch: ArchARM, IP: ARMPC, SP: ARMSP, FP: ARMFP, Link: ARMLR, General: 1<<ARMSP - 1, AddressBits: 32,
			Context: contextARM(), names: []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc", "cpsr"},
		}
	})
	processorMIPS   = sync.OnceValue(func() *Processor { return mips(ArchMIPS, 32, contextMIPS()) })
	processorMIPS64 = sync.OnceValue(func() *Processor { return mips(ArchMIPS64, 64, contextMIPS64()) })
)

func mips(a Arch, bits int, context ContextLayout) *Processor {
	return &Processor{
		Arch: a, IP: MIPSPC, SP: MIPSSP, FP: MIPSFP, Link: MIPSRA, General: 1<<MIPSPC - 1, AddressBits: bits,
		Context: context, names: []string{"zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7",
			"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra", "pc"},
	}
}

// rowsARM64 returns SP, FP and PC, then the other registers in rows of three.
func rowsARM64() [][]Reg {
	rows := [][]Reg{{ARM64SP, ARM64FP, ARM64PC}}
	var rest []Reg
	for r := ARM64X0; r < ARM64FP; r++ {
		rest = append(rest, r)
	}
	return slices.AppendSeq(rows, slices.Chunk(append(rest, ARM64LR), 3))
}

// Processor returns the description of a for walking stacks. It is target.ErrUnsupported if stacks
// of a are not supported; RegisterFile may still succeed.
func (a Arch) Processor() (*Processor, error) {
	if p := a.processor(); p != nil && a.PointerSize() == 8 && a != ArchMIPS64 {
		return p, nil
	}
	return nil, Unsupportedf("the stacks of %v are not followed", a)
}

// Followed returns the processors with supported stacks.
func Followed() []Arch { return []Arch{ArchAMD64, ArchARM64} }

// RegisterFile returns the description of a for showing registers. It is target.ErrUnsupported if
// registers of a are not supported.
func (a Arch) RegisterFile() (*Processor, error) {
	if p := a.processor(); p != nil {
		return p, nil
	}
	return nil, Unsupportedf("the registers of %v are not read", a)
}

// processor returns the RegisterFile, or nil.
func (a Arch) processor() *Processor {
	switch a {
	case ArchAMD64:
		return amd64()
	case ArchARM64:
		return arm64()
	case Arch386:
		return processor386()
	case ArchARM:
		return processorARM()
	case ArchMIPS:
		return processorMIPS()
	case ArchMIPS64:
		return processorMIPS64()
	}
	return nil
}

// RegSize returns the size of r in a CONTEXT in bytes, or 8 if it is not in one.
func (p *Processor) RegSize(r Reg) int {
	if p == nil {
		return 8
	}
	for i := range p.Context.Registers {
		if m := &p.Context.Registers[i]; m.Reg == r {
			return m.Size
		}
	}
	return 8
}

// Code returns the address in a code pointer, without the signature that may be stored with it.
func (p *Processor) Code(v uint64) Addr {
	if p == nil || p.CodeBits == 0 || v>>(p.CodeBits-1)&1 != 0 && v>>p.CodeBits == 1<<(64-p.CodeBits)-1 {
		return Addr(v)
	}
	return Addr(v & (1<<p.CodeBits - 1))
}

// A VectorFile describes where the vector registers are in Registers.Float.
type VectorFile struct {
	Name   string // prefix of the registers' names, before their numbers
	Count  int    // 0 if they are not supported
	Offset int    // of the first register; each has 16 bytes
	Size   int    // bytes of Registers.Float
}

// Data returns the address in a data pointer, without the tag that the processor ignores.
func (p *Processor) Data(v uint64) Addr {
	if p == nil || p.TagBits == 0 {
		return Addr(v)
	}
	return Addr(int64(v<<p.TagBits) >> p.TagBits)
}

// firstPage is the end of the addresses that no process maps. A smaller value is a number and not a
// pointer.
const firstPage Addr = 0x1000

// Mappable reports whether a process can have memory at a: a is after the first page and in the
// lower half of the canonical addresses, which systems give to processes.
func (p *Processor) Mappable(a Addr) bool { return a >= firstPage && a>>(p.AddressBits-1) == 0 }

// An ABI is the calling convention of compiled code on a processor and an operating system. ABIs
// are read-only.
type ABI struct {
	*Processor
	Name string
	// Arguments are the registers of the first integer arguments, in order. A method gets this, the
	// address of the result buffer and the generic context, if it has them, before its parameters
	// (runtime: clr-abi.md).
	Arguments []Reg
	// FloatArguments is the number of registers for floating-point arguments. If ArgumentSlots is
	// set, they share the count with Arguments: each argument has one slot, which is a register
	// with a home on the stack, or a word of the stack. Structs of sizes other than 1, 2, 4 and 8
	// are then passed by address.
	FloatArguments int
	ArgumentSlots  bool
	// ResultBuffer is the register for the address of a result that fits no register, or NoReg if
	// this address is the first of Arguments.
	ResultBuffer Reg
	// Aggregates is set if structs of one to four floats or doubles are passed in as many
	// floating-point registers, others of up to 16 bytes in Arguments, and larger ones by address.
	Aggregates bool
	// RedZone is the number of bytes below the stack pointer that a function may use without moving it.
	RedZone int
	extra   RegSet // preserved registers besides Preserved
}

// The ABIs of .NET code. Sources: System V ABI for x86-64, 3.2; learn.microsoft.com, "x64 calling
// convention"; Procedure Call Standard for the Arm 64-bit Architecture; learn.microsoft.com,
// "Overview of ARM64 ABI conventions".
var (
	systemVAMD64 = sync.OnceValue(func() *ABI {
		return &ABI{Processor: amd64(), Name: "System V", Arguments: []Reg{RDI, RSI, RDX, RCX, R8, R9}, FloatArguments: 8,
			ResultBuffer: NoReg, RedZone: 128}
	})
	windowsAMD64 = sync.OnceValue(func() *ABI {
		return &ABI{Processor: amd64(), Name: "Microsoft x64", Arguments: []Reg{RCX, RDX, R8, R9}, FloatArguments: 4, ArgumentSlots: true,
			ResultBuffer: NoReg, extra: Regs(RSI, RDI)}
	})
	systemVARM64 = sync.OnceValue(func() *ABI {
		return &ABI{Processor: arm64(), Name: "AAPCS64", Arguments: argumentsARM64(), FloatArguments: 8, ResultBuffer: ARM64X0 + 8, Aggregates: true}
	})
	windowsARM64 = sync.OnceValue(func() *ABI {
		return &ABI{Processor: arm64(), Name: "Microsoft ARM64", Arguments: argumentsARM64(), FloatArguments: 8, ResultBuffer: ARM64X0 + 8,
			Aggregates: true, RedZone: 16}
	})
	darwinARM64 = sync.OnceValue(func() *ABI {
		return &ABI{Processor: arm64(), Name: "Apple ARM64", Arguments: argumentsARM64(), FloatArguments: 8, ResultBuffer: ARM64X0 + 8,
			Aggregates: true, RedZone: 128}
	})
)

// AMD64 returns the processor of x64. Its value is shared and read-only.
func AMD64() *Processor { return amd64() }

// ARM64 returns the processor of AArch64. Its value is shared and read-only.
func ARM64() *Processor { return arm64() }

// SystemVAMD64 returns the convention of x64 on Linux and macOS. Its value is shared and read-only.
func SystemVAMD64() *ABI { return systemVAMD64() }

// WindowsAMD64 returns the convention of x64 on Windows. Its value is shared and read-only.
func WindowsAMD64() *ABI { return windowsAMD64() }

// SystemVARM64 returns the convention of AArch64 on Linux. Its value is shared and read-only.
func SystemVARM64() *ABI { return systemVARM64() }

// WindowsARM64 returns the convention of AArch64 on Windows. Its value is shared and read-only.
func WindowsARM64() *ABI { return windowsARM64() }

// DarwinARM64 returns the convention of AArch64 on macOS. Its value is shared and read-only.
func DarwinARM64() *ABI { return darwinARM64() }

// argumentsARM64 returns X0 to X7.
func argumentsARM64() []Reg {
	var out []Reg
	for r := ARM64X0; r < 8; r++ {
		out = append(out, r)
	}
	return out
}

// ABI returns the convention of the platform's compiled code, or target.ErrUnsupported if it is
// unknown.
func (p Platform) ABI() (*ABI, error) {
	windows := p.OS == OSWindows
	switch {
	case p.Arch == ArchAMD64 && windows:
		return windowsAMD64(), nil
	case p.Arch == ArchAMD64:
		return systemVAMD64(), nil
	case p.Arch == ArchARM64 && windows:
		return windowsARM64(), nil
	case p.Arch == ArchARM64 && p.OS == OSDarwin:
		return darwinARM64(), nil
	case p.Arch == ArchARM64:
		return systemVARM64(), nil
	}
	return nil, Unsupportedf("the calling convention of %v", p.Arch)
}

// Preserves reports whether a callee preserves r.
func (a *ABI) Preserves(r Reg) bool { return a.Processor != nil && (a.Preserved | a.extra).Has(r) }

// Scratch returns the general registers that a call destroys.
func (a *ABI) Scratch() RegSet {
	if a.Processor == nil {
		return 0
	}
	return a.General &^ (a.Preserved | a.extra | Regs(a.SP))
}
