package codeinfo

import (
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// Numbers of variables that are no arguments or locals of the IL (runtime: cordebuginfo.h). The arguments have the
// numbers from 0 on, a this pointer first; the locals follow.
const (
	VarArgsHandle int32 = -1 // the handle of a vararg method's arguments
	VarReturnBuf  int32 = -2 // where the caller wants the result
	VarTypeArg    int32 = -3 // the generic context, as hidden argument
	VarUnknown    int32 = -4

	minVarNumber = -4

	// Since .NET 11 (dotnet/runtime pull request 128479) the return values of calls have a number, too.
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
	LocStackByRef                           // at the address that is stored at Base + Offset
	LocRegisterRegister                     // low half in Reg, high half in Reg2
	LocRegisterStack                        // low half in Reg, high half at Base + Offset
	LocStackRegister                        // low half at Base + Offset, high half in Reg
	LocStack2                               // in two words at Base + Offset
	LocFloatStack                           // x87 register Index
	LocVarArg                               // Index bytes from the first argument of a vararg method

	locationKinds
)

// Numbers of a Location that are no registers of the processor.
const (
	// AmbientSP stands in Location.Base for the method's stack pointer after its prolog, whatever it pushes later.
	AmbientSP = target.Reg(63)
	// XMM0 is the first of 32 vector registers. They can stand where the kind of the location names any register.
	XMM0 = target.Reg(64)
)

const vectorRegisters = 32

// A numbering is how the compiler numbers the registers of a processor (runtime:
// cordebuginfo.h, RegNum; jit/register.h, jit/registerarm64.h).
type numbering struct {
	integer uint32     // those from 0 on are the processor's own numbers
	vector  uint32     // the first vector register
	ambient uint32     // stands for AmbientSP
	stack   [2]uint32  // stand for the stack pointer, beside its own number; 0: none
	sp      target.Reg // what they stand for
}

// numberingOf returns the numbering of a processor. Since .NET 10 sixteen more integer registers of AMD64 come before its vector registers
// (apx). On ARM64 the compiler has a number for the stack pointer after all others, and since .NET 9 predicates come before that.
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

// A Location is where a variable is in a range of code. Which members hold is according to Kind.
type Location struct {
	Kind   LocationKind
	Reg    target.Reg
	Reg2   target.Reg
	Base   target.Reg // or AmbientSP
	Offset int32      // bytes
	Index  uint32
}

// A Variable is an argument, a local or a hidden argument, and where it is while the instruction pointer is in a range.
// A variable can have several, and none where the compiler does not track it.
type Variable struct {
	Number   int32 // of the argument or local, or one of the Var constants
	Code     CodeRange
	Location Location
}

// Locate finds where variable number is when the instruction pointer is offset bytes into the code. It is the
// debugger's rule: the first that covers the offset, its end included, because the instruction pointer of a frame that
// called follows the call, and that may be the last instruction of the range.
func Locate(vars []Variable, number int32, offset uint32) (Location, bool) {
	for i := range vars {
		v := &vars[i]
		if v.Number == number && v.Code.Start <= offset && offset <= v.Code.End {
			return v.Location, true
		}
	}
	return Location{}, false
}

// Address returns where the variable, or the part of it in memory, lies. It reports false for one that is in registers
// alone, and when the register that it needs is not known. Of LocStackByRef it is the place of the address.
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

// Variables decodes the part of a method's debug information that records where variables are (runtime:
// debuginfostore.cpp). b holds exactly that part; it may be empty. Compilers before .NET 11 write the same form, but they number
// registers by the processor, and since .NET 10 the vector registers of AMD64 differently; apx selects that form. For a
// processor whose numbers are unknown it returns target.ErrUnsupported.
func Variables(b []byte, arch target.Arch, apx bool) ([]Variable, error) {
	return variables(b, arch, apx, false)
}

// variables is Variables, also for the form of .NET 11, whose debug information consists of chunks: the number comes first, and the return values
// of calls are among the variables. They are left out.
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
	const fewest = 5 // nibbles of one variable
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

// variable decodes an entry, and reports whether it is one of a variable with a place.
func (r *variableReader) variable(v *Variable, chunks bool) bool {
	var start, size uint32
	if chunks {
		v.Number = int32(r.uint()) + minVarNumber11
		start, size = r.uint(), r.uint()
		if v.Number == varCallReturn { // instead of the size it has the IL offset of the call
			size = 1
		}
	} else {
		start, size = r.uint(), r.uint()
		v.Number = int32(r.uint()) + minVarNumber
	}
	kind := r.uint()
	if chunks && (kind == uint32(locationKinds) || kind == uint32(locationKinds)+1) { // VLT_COUNT, VLT_INVALID: nothing follows
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

// location reads what follows the kind.
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

// base reads the number of the register that a place on the stack is relative to.
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
