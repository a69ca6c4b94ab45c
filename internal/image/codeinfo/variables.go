package codeinfo

import (
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Numbers of variables other than arguments and locals of the IL (runtime: cordebuginfo.h).
// Arguments are numbered from 0, the this pointer first; locals follow.
const (
	VarArgsHandle int32 = -1 // the handle of a vararg method's arguments
	VarReturnBuf  int32 = -2 // the caller's address for the result
	VarTypeArg    int32 = -3 // the generic context, as a hidden argument
	VarUnknown    int32 = -4

	minVarNumber = -4

	// Since .NET 11 (dotnet/runtime pull request 128479) return values of calls have a number, too.
	varCallReturn  = -5
	minVarNumber11 = -6
)

// A LocationKind describes how a variable is stored.
type LocationKind uint8

// The kinds of location (runtime: cordebuginfo.h, VarLocType).
const (
	LocRegister         LocationKind = iota // in Reg
	LocRegisterByRef                        // at the address in Reg
	LocRegisterFloat                        // in the vector register Reg
	LocStack                                // at Base + Offset
	LocStackByRef                           // at the address stored at Base + Offset
	LocRegisterRegister                     // low half in Reg, high half in Reg2
	LocRegisterStack                        // low half in Reg, high half at Base + Offset
	LocStackRegister                        // low half at Base + Offset, high half in Reg
	LocStack2                               // in two words at Base + Offset
	LocFloatStack                           // x87 register Index
	LocVarArg                               // Index bytes from the first argument of a vararg method

	locationKinds
)

// Numbers in a Location that are not registers of the processor.
const (
	// AmbientSP in Location.Base is the method's stack pointer after its prolog, before later
	// pushes.
	AmbientSP = target.Reg(63)
	// XMM0 is the first of 32 vector registers. They may be used for any register in a Location.
	XMM0 = target.Reg(64)
)

const vectorRegisters = 32

// A numbering is a compiler's numbering of a processor's registers (runtime: cordebuginfo.h,
// RegNum; jit/register.h, jit/registerarm64.h).
type numbering struct {
	integer uint32     // smaller numbers are the processor's own
	vector  uint32     // the first vector register
	ambient uint32     // the number of AmbientSP
	stack   [2]uint32  // further numbers of the stack pointer; 0 means unused
	sp      target.Reg // the stack pointer
}

// numberingOf returns the numbering of a processor. With apx, since .NET 10, sixteen more integer
// registers of AMD64 precede its vector registers. On ARM64 the stack pointer also has the number
// after all other registers, which since .NET 9 include predicates.
func numberingOf(arch target.Arch, apx bool) (numbering, error) {
	switch {
	case arch == target.ArchAMD64 && apx:
		return numbering{integer: 16, vector: 32, ambient: 17}, nil
	case arch == target.ArchAMD64:
		return numbering{integer: 16, vector: 16, ambient: 17}, nil
	case arch == target.ArchARM64:
		return numbering{integer: 32, vector: 32, ambient: 34, stack: [...]uint32{64, 80}, sp: target.ARM64SP}, nil
	}
	return numbering{}, target.Unsupportedf("variables of %v", arch)
}

// A Location is the place of a variable in a range of code. Kind determines which fields are used.
type Location struct {
	Kind   LocationKind
	Reg    target.Reg
	Reg2   target.Reg
	Base   target.Reg // or AmbientSP
	Offset int32      // bytes
	Index  uint32
}

// A Variable is an argument, a local or a hidden argument, with its location while the instruction
// pointer is in a range. A variable can have several entries, or no entry if the compiler does not
// track it.
type Variable struct {
	Number   int32 // of the argument or local, or one of the Var constants
	Code     CodeRange
	Location Location
}

// Locate returns the location of variable number at an offset in bytes from the start of the code.
// Like the debugger, it uses the first range that covers the offset, including its end: the return
// address of a call may be right after the range.
func Locate(vars []Variable, number int32, offset uint32) (Location, bool) {
	for i := range vars {
		v := &vars[i]
		if v.Number == number && v.Code.Start <= offset && offset <= v.Code.End {
			return v.Location, true
		}
	}
	return Location{}, false
}

// Address returns the address of the variable, or of its part in memory. It reports false for a
// variable in registers only, and if the base register is unknown. For LocStackByRef it returns
// where the variable's address is stored.
func (l *Location) Address(regs *target.Registers) (target.Addr, bool) {
	switch l.Kind {
	case LocStack, LocStackByRef, LocStack2, LocRegisterStack, LocStackRegister:
		offset := target.Addr(int64(l.Offset))
		if l.Base == AmbientSP {
			sp, ok := regs.SP()
			return sp + offset, ok
		}
		v, ok := regs.Get(l.Base)
		return target.Addr(v) + offset, ok
	case LocRegisterByRef:
		v, ok := regs.Get(l.Reg)
		return target.Addr(v), ok
	}
	return 0, false
}

// variables decodes the part of a method's debug information with the locations of variables
// (runtime: debuginfostore.cpp). b holds exactly that part; it may be empty. apx selects the numbers
// of .NET 10 for the vector registers of AMD64. In the chunks of .NET 11 the number comes first, and
// return values of calls are included; they are skipped.
func variables(b []byte, arch target.Arch, apx, chunks bool) ([]Variable, error) {
	if len(b) == 0 {
		return nil, nil
	}
	numbers, err := numberingOf(arch, apx)
	if err != nil {
		return nil, err
	}
	r := variableReader{nibbleReader: nibbleReader{b: b}, numbering: numbers}
	n := r.uint()
	if r.err != nil {
		return nil, r.err
	}
	const fewest = 5 // minimum number of nibbles of a variable
	if uint64(n) > uint64(r.left()/fewest) || n > limits.NativeVars {
		return nil, target.Corruptf("%d variables in %d bytes of debug information", n, len(b))
	}
	out := make([]Variable, 0, n)
	for range n {
		var v Variable
		if r.variable(&v, chunks) {
			out = append(out, v)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return out, nil
}

type variableReader struct {
	nibbleReader
	numbering
}

// variable decodes an entry. It reports false for a return value, and for an entry without a
// location.
func (r *variableReader) variable(v *Variable, chunks bool) bool {
	var start, size uint32
	if chunks {
		v.Number = int32(r.uint()) + minVarNumber11
		start, size = r.uint(), r.uint()
		if v.Number == varCallReturn { // the size is the IL offset of the call
			size = 1
		}
	} else {
		start, size = r.uint(), r.uint()
		v.Number = int32(r.uint()) + minVarNumber
	}
	kind := r.uint()
	// VLT_COUNT, VLT_INVALID: nothing follows.
	if chunks && (kind == uint32(locationKinds) || kind == uint32(locationKinds)+1) {
		return false
	}
	if r.err == nil && (kind >= uint32(locationKinds) || size > ^uint32(0)-start) {
		r.err = target.Corruptf("variable %d with location kind %d at %#x+%#x", v.Number, kind, start, size)
	}
	if r.err != nil {
		return false
	}
	v.Code = CodeRange{start, start + size}
	v.Location.Kind = LocationKind(kind)
	r.location(&v.Location)
	return v.Number != varCallReturn
}

// location reads the data after the kind.
func (r *variableReader) location(l *Location) {
	switch l.Kind {
	case LocRegister, LocRegisterByRef, LocRegisterFloat:
		l.Reg = r.register()
	case LocStack, LocStackByRef, LocStack2:
		l.Base = r.base()
		l.Offset = r.int()
	case LocRegisterRegister:
		l.Reg = r.register()
		l.Reg2 = r.register()
	case LocRegisterStack:
		l.Reg = r.register()
		l.Base = r.base()
		l.Offset = r.int()
	case LocStackRegister:
		l.Offset = r.int()
		l.Base = r.base()
		l.Reg = r.register()
	case LocFloatStack, LocVarArg:
		l.Index = r.uint()
	}
}

func (r *variableReader) register() target.Reg {
	n := r.uint()
	switch {
	case n < r.integer:
		return target.Reg(n)
	case n >= r.vector && n < r.vector+vectorRegisters:
		return XMM0 + target.Reg(n-r.vector)
	}
	r.fail("variable in register %d", n)
	return 0
}

// base reads the base register of a place on the stack.
func (r *variableReader) base() target.Reg {
	n := r.uint()
	switch {
	case n < r.integer:
		return target.Reg(n)
	case n == r.ambient:
		return AmbientSP
	case n != 0 && (n == r.stack[0] || n == r.stack[1]):
		return r.sp
	}
	r.fail("variable on the stack by register %d", n)
	return 0
}

func (r *variableReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = target.Corruptf(format, args...)
	}
}
