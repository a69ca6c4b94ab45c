package dac

import "github.com/sosgo/sosgo/internal/image/codeinfo"

// The compiler's records about the code of a method.
type (
	// An ILMapping maps an offset in a method's code (Native, bytes) to an offset in its IL (IL, bytes; negative in the
	// prolog, in the epilog, and for code without IL).
	ILMapping = codeinfo.ILMapping

	// A VariableRange is an argument, a local or a hidden argument (Number), with its Location while the instruction
	// pointer is in a range of the Code.
	VariableRange = codeinfo.Variable

	// A VariableLocation is the place of a variable: Kind, and by Kind the registers Reg and Reg2, or an Offset in bytes
	// from the register Base.
	VariableLocation = codeinfo.Location

	// A Suspension is a point of a method at which runtime async can suspend it: its offset in the code (Native), and
	// the variables that the continuation stores (Saved).
	Suspension = codeinfo.Suspension

	// A SavedVariable is a variable (Number) of a suspended method, and its Offset in the continuation.
	SavedVariable = codeinfo.SavedVariable

	// An EHClause is an exception clause: its Kind, the blocks Try and Handler in bytes from the method's start, the start
	// of a Filter, and what it catches (ClassToken or TypeHandle).
	EHClause = codeinfo.EHClause

	// A GCDecoder decodes the GC info of a method: which Slots hold references at an offset of the code.
	GCDecoder = codeinfo.GCDecoder

	// A GCSlot is a register or a place on the stack that holds a reference. String returns "rbx", "rbp-18".
	GCSlot = codeinfo.Slot
)
