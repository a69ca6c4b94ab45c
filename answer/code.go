package answer

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/target"
)

// A Method describes a method by its MethodDesc.
type Method struct {
	Gaps
	MethodDesc  target.Addr   `json:"methodDesc" doc:"address of the MethodDesc"`
	Name        Maybe[string] `json:"name,omitzero" doc:"type, name, generic arguments and parameters"`
	Kind        string        `json:"kind" doc:"what the MethodDesc describes: \"IL\", \"FCall\", \"PInvoke\", \"EEImpl\", \"Array\", \"Instantiated\", \"ComInterop\" or \"Dynamic\""`
	Class       Pointer       `json:"class,omitzero" doc:"EEClass of the type"`
	MethodTable target.Addr   `json:"methodTable" doc:"type that declares the method"`
	Token       Hex           `json:"token" doc:"metadata token, 0x6000000 for a method without metadata"`
	Module      Pointer       `json:"module,omitzero" doc:"module that defines the type"`
	Slot        int           `json:"slot" doc:"in the type's table of methods"`
	Jitted      Maybe[bool]   `json:"jitted" doc:"the method has code"`
	Code        Pointer       `json:"code,omitzero" doc:"code that calls run now; of ip2md, the body that holds the address"`
	IL          Pointer       `json:"il,omitzero" doc:"body in IL"`
	ReJIT       Maybe[uint64] `json:"rejit,omitzero" doc:"ReJIT ID of the IL that this code was compiled from: 0 is that of the metadata, a profiler's count from 1"`
	Versions    []CodeVersion `json:"versions" doc:"bodies of code, the default one first"`
	Address     *target.Addr  `json:"address,omitempty" doc:"the address that ip2md was asked for"`
	Offset      *uint32       `json:"offset,omitempty" doc:"of that address from the start of its body, in bytes"`
	Source      *SourcePlace  `json:"source,omitempty" doc:"place of that address in the source"`

	// MetadataInDump reports whether the dump, rather than a file, holds the metadata of the method's module.
	MetadataInDump bool `json:"-"`
}

// A CodeVersion is one body of a method's code.
type CodeVersion struct {
	Node   target.Addr `json:"node" doc:"NativeCodeVersionNode, 0x0 for the default version"`
	Code   target.Addr `json:"code" doc:"start of the code, 0x0 while it is not compiled"`
	Tier   string      `json:"tier" doc:"how it was compiled, in SOS's words"`
	Active bool        `json:"active" doc:"calls run it now"`
}

// A SourcePlace is a place in a source file.
type SourcePlace struct {
	File string `json:"file" doc:"as the compiler recorded it"`
	Line int    `json:"line" doc:"from 1"`
}

// A CodeSpan is a part of a method's code, in bytes from its start.
type CodeSpan struct {
	Start uint32 `json:"start" doc:"offset in bytes"`
	End   uint32 `json:"end" doc:"offset of the first byte behind it"`
}

// A Handlers lists the exception handlers of a method's code.
type Handlers struct {
	Gaps
	Method  target.Addr     `json:"method" doc:"MethodDesc"`
	Name    Text            `json:"name" doc:"method"`
	Start   target.Addr     `json:"start" doc:"entry point of the code, 0x0 if there is none"`
	Clauses []HandlerClause `json:"clauses" doc:"innermost first"`

	// Details describe the method; nil if it has no code.
	Details *Method `json:"-"`
}

// A HandlerClause is one exception handler with the code that it protects.
type HandlerClause struct {
	Kind      HandlerKind `json:"kind" doc:"TYPED, FILTER, FINALLY or FAULT"`
	Catches   Text        `json:"catches,omitzero" doc:"type that a TYPED clause catches"`
	Try       CodeSpan    `json:"try" doc:"code that is covered"`
	Handler   CodeSpan    `json:"handler" doc:"code of the handler"`
	Filter    *uint32     `json:"filter,omitempty" doc:"offset of the filter"`
	Duplicate bool        `json:"duplicate,omitempty" doc:"repeats another clause for code that the compiler moved"`
	Cloned    bool        `json:"clonedFinally,omitempty" doc:"marks the copy of a finally for the way without an exception"`
}

// A HandlerKind is the kind of a HandlerClause.
type HandlerKind string

// The kinds of a HandlerClause.
const (
	HandlerTyped   HandlerKind = "TYPED" // catches a type
	HandlerFilter  HandlerKind = "FILTER"
	HandlerFinally HandlerKind = "FINALLY"
	HandlerFault   HandlerKind = "FAULT"
)

// A GCInfo lists the registers and stack slots of a method that hold references, by code offset.
type GCInfo struct {
	Gaps
	Method      target.Addr `json:"method" doc:"MethodDesc"`
	Name        Text        `json:"name" doc:"method"`
	Start       target.Addr `json:"start" doc:"entry point of the code"`
	Kind        string      `json:"kind" doc:"JIT or ReadyToRun"`
	GCInfo      target.Addr `json:"gcInfo" doc:"address of the GC info"`
	Version     int         `json:"version" doc:"version of its encoding"`
	CodeSize    uint32      `json:"codeSize" doc:"bytes of code, funclets included"`
	PrologSize  uint32      `json:"prologSize" doc:"bytes; 0 when not recorded"`
	GSCookie    *int32      `json:"gsCookie,omitempty" doc:"stack offset of the security cookie"`
	PSPSym      *int32      `json:"pspSym,omitempty" doc:"stack offset of the PSPSym"`
	Context     string      `json:"genericContext,omitempty" doc:"METHODHANDLE, METHODDESC or THIS: where shared code finds its type arguments"`
	ContextSlot *int32      `json:"genericContextSlot,omitempty" doc:"stack offset of it"`
	FrameBase   string      `json:"frameBase,omitempty" doc:"frame register"`
	Returns     string      `json:"returns,omitempty" doc:"what the method returns in registers; versions 2 and 3"`
	LeafOnly    bool        `json:"reportOnlyLeaf" doc:"only the leaf of a method and its funclets reports its slots"`
	TailCalls   *bool       `json:"tailCalls,omitempty" doc:"the method makes tail calls; of ARM64, where all methods report by their leaf"`
	Outgoing    uint32      `json:"outgoingArea" doc:"bytes of stack for arguments of callees"`
	Ranges      []CodeSpan  `json:"interruptible" doc:"code that can be stopped at every instruction"`
	Untracked   []GCSlot    `json:"untracked" doc:"slots that hold references in the whole method"`
	States      []GCState   `json:"states" doc:"live slots wherever they change"`

	CookieRange CodeSpan   `json:"-"` // code in which the security cookie is valid
	VarArg      bool       `json:"-"` // the method takes a variable number of arguments
	Changes     []GCChange `json:"-"` // the states as what changes from one to the next
}

// A GCSlot is a register or stack slot that holds a reference.
type GCSlot struct {
	Slot     string `json:"slot" doc:"register, or base register and offset in hexadecimal"`
	Interior bool   `json:"interior,omitempty" doc:"may point inside an object"`
	Pinned   bool   `json:"pinned,omitempty" doc:"keeps the object where it is"`

	// FromSP is the slot's offset from the stack pointer; nil for other slots.
	FromSP *int32 `json:"-"`
}

// A GCState is the set of slots that hold references from an offset on, or only at a safe point.
type GCState struct {
	Offset    uint32   `json:"offset" doc:"offset in bytes"`
	SafePoint bool     `json:"safePoint,omitempty" doc:"the state holds at this return address only"`
	Live      []GCSlot `json:"live" doc:"slots that hold references, untracked ones left out"`
}

// A GCChange is the change of state at an offset: slots that stop and start holding references, and whether the code
// is fully interruptible. For a safe point it lists all live slots.
type GCChange struct {
	Offset        uint32
	SafePoint     bool
	Switches      bool // Interruptible is another than before
	Interruptible bool
	Ends, Begins  []GCSlot
}

// An IL is the body of a method in IL.
type IL struct {
	Gaps
	MethodDesc   target.Addr                     `json:"methodDesc,omitempty" doc:"address of the MethodDesc"`
	Name         Maybe[string]                   `json:"name,omitzero" doc:"of the method; absent for IL at an address"`
	NoBody       bool                            `json:"noBody,omitempty" doc:"the method has no IL; nothing else is known"`
	Address      Pointer                         `json:"address,omitzero" doc:"of the body's header in the process"`
	MaxStack     uint16                          `json:"maxStack" doc:"slots of the evaluation stack"`
	InitLocals   bool                            `json:"initLocals" doc:"local variables start as zeros"`
	Dynamic      bool                            `json:"dynamic,omitempty" doc:"the IL is of a DynamicMethod: tokens number the objects of its scope"`
	Locals       iter.Seq2[string, error]        `json:"locals,omitempty" doc:"types of the local variables"`
	Instructions iter.Seq2[ILInstruction, error] `json:"instructions" doc:"in the order of their offsets"`
	Clauses      []ILClause                      `json:"clauses,omitempty" doc:"exception handlers"`

	CodeSize int `json:"-"` // bytes of the instructions
	// Compiled reports whether a method without a body is of a kind that is compiled from IL.
	Compiled bool `json:"-"`
	// Items is the array that the tokens of a DynamicMethod index.
	Items Pointer `json:"-"`
}

// An ILInstruction is one instruction of IL.
type ILInstruction struct {
	Offset  int       `json:"offset" doc:"bytes from the start of the code"`
	Opcode  string    `json:"opcode" doc:"as the IL assembler names it"`
	Operand ILOperand `json:"operand,omitzero" doc:"in words: name, literal, constant or target"`
	Token   Hex       `json:"token,omitempty" doc:"metadata token"`
}

// An ILClause is an exception handler in IL.
type ILClause struct {
	Kind    ILClauseKind `json:"kind" doc:"\"catch\", \"filter\", \"finally\" or \"fault\""`
	Try     [2]uint32    `json:"try" doc:"offset and length of what is protected"`
	Handler [2]uint32    `json:"handler" doc:"offset and length of the handler"`
	Type    Text         `json:"type,omitzero" doc:"of the exceptions that a catch takes"`
	Token   Hex          `json:"token,omitempty" doc:"of that type"`
	Filter  uint32       `json:"filter,omitempty" doc:"offset of the filter"`
}

// An ILClauseKind is the kind of an ILClause.
type ILClauseKind string

// The kinds of an ILClause.
const (
	ILCatch   ILClauseKind = "catch"
	ILFilter  ILClauseKind = "filter"
	ILFinally ILClauseKind = "finally"
	ILFault   ILClauseKind = "fault"
)

// An ILOperandKind is the kind of an instruction's operand.
type ILOperandKind uint8

// The kinds of operands.
const (
	ILNone     ILOperandKind = iota
	ILVariable               // Int is the number of a variable or argument
	ILInt                    // Int is a constant
	ILFloat                  // Float is a constant
	ILBranch                 // Targets is one offset
	ILSwitch                 // Targets are the offsets of a switch
	ILName                   // Name is what Token names
	ILUnnamed                // Token, without a module that would name it
	ILLost                   // Token, which nothing could be found for
)

// An ILOperand is an operand of IL, in parts for different formats.
type ILOperand struct {
	Kind    ILOperandKind
	Int     int64
	Float   float64
	Targets []int
	Token   Hex
	Name    ILToken
}

// IsZero reports whether there is no operand.
func (o ILOperand) IsZero() bool { return o.Kind == ILNone }

// MarshalText implements encoding.TextMarshaler.
func (o ILOperand) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// String returns the operand in words.
func (o ILOperand) String() string {
	switch o.Kind {
	case ILVariable:
		return "VAR OR ARG " + strconv.FormatInt(o.Int, 10)
	case ILInt:
		return strconv.FormatInt(o.Int, 10)
	case ILFloat:
		return strconv.FormatFloat(o.Float, 'g', -1, 64)
	case ILBranch:
		return targets(o.Targets)
	case ILSwitch:
		return "(" + targets(o.Targets) + ")"
	case ILName:
		return o.Name.String()
	case ILUnnamed:
		return "TOKEN " + strconv.FormatUint(uint64(o.Token), 16)
	case ILLost:
		return fmt.Sprintf("<token %08x>", uint64(o.Token))
	}
	return ""
}

func targets(offsets []int) string {
	words := make([]string, len(offsets))
	for i, t := range offsets {
		words[i] = fmt.Sprintf("IL_%04x", t)
	}
	return strings.Join(words, ", ")
}

// An ILToken is the name for a token in IL, in parts: "Before Type::Member After", or a string literal.
type ILToken struct {
	Before  string // the type that a method returns, with a blank; a whole signature; what an object of a scope is
	Type    ILType // a type, or the owner of a member
	Member  string // name of a field or method
	After   string // generic arguments and parameters of a method
	Literal *string
}

// An ILType is a type that a token in IL names.
type ILType struct {
	Kind ILTypeKind
	Full string // with the types around it: "Ns.Outer/Inner"
	Own  string // without them: "Inner"
}

// An ILTypeKind is the metadata table that names a type.
type ILTypeKind uint8

// The kinds.
const (
	ILNoType   ILTypeKind = iota
	ILTypeDef             // of the module
	ILTypeRef             // of another module
	ILTypeSpec            // with a signature
	ILModule              // no type: a module's global members
)

// String returns the full name.
func (t ILToken) String() string {
	if t.Literal != nil {
		return Quote(*t.Literal)
	}
	return t.Join(t.Type.Full, t.Member)
}

// Join returns the name with the given type and member.
func (t ILToken) Join(typ, member string) string {
	if t.Member != "" {
		typ += "::" + member
	}
	return t.Before + typ + t.After
}

// A Disassembly is the machine code of a method.
type Disassembly struct {
	Gaps
	Method       target.Addr                          `json:"method" doc:"MethodDesc"`
	Name         Text                                 `json:"name" doc:"method"`
	Kind         string                               `json:"kind" doc:"JIT or ReadyToRun"`
	Start        target.Addr                          `json:"start" doc:"entry point of the code, 0x0 if there is none"`
	Size         uint64                               `json:"size" doc:"bytes"`
	GC           *GCInfo                              `json:"gcInfo,omitempty" doc:"with -gcinfo: where the code holds references"`
	Handlers     []HandlerClause                      `json:"handlers,omitempty" doc:"with -ehinfo: exception handlers, innermost first"`
	Map          []ILRange                            `json:"map,omitempty" doc:"with -map: which code was made from which IL"`
	Instructions iter.Seq2[MachineInstruction, error] `json:"instructions" doc:"by address"`

	At                        target.Addr `json:"-"` // the requested address
	GCErr, HandlersErr, ILErr error       `json:"-"` // why requested parts are missing
}

// An ILRange is machine code that was generated from one range of IL.
type ILRange struct {
	IL    Hex         `json:"il" doc:"offset of the IL; 0xffffffff for no IL, 0xfffffffe the prolog, 0xfffffffd the epilog"`
	Start target.Addr `json:"start" doc:"first byte"`
	End   target.Addr `json:"end" doc:"behind the last byte"`
}

// A MachineInstruction is one instruction of the processor.
type MachineInstruction struct {
	Offset uint32          `json:"offset" doc:"from the start, in bytes"`
	Bytes  string          `json:"bytes" doc:"hexadecimal"`
	Text   string          `json:"text,omitempty" doc:"mnemonic and operands; absent for bytes that are no instruction"`
	Ref    *target.Addr    `json:"ref,omitempty" doc:"address that the instruction names"`
	Name   string          `json:"name,omitempty" doc:"what lies there"`
	IL     *int            `json:"il,omitempty" doc:"offset of the IL that the code from here on was made from"`
	Source *SourcePlace    `json:"source,omitempty" doc:"source line from here on"`
	ILCode []ILInstruction `json:"ilCode,omitempty" doc:"with -il: that IL, up to the next offset"`
}

// Tiers counts the compiled method bodies of a process by tier.
type Tiers struct {
	Gaps
	Methods  int64            `json:"methods" doc:"methods that were compiled in the process; code of ReadyToRun images is not among them" text:"% method was compiled|% methods were compiled"`
	Waiting  int64            `json:"waiting" doc:"those of them whose calls still run code of the first tier; what is called often is compiled again" text:"% is still in the first tier|% are still in the first tier"`
	Unknown  int64            `json:"unknown" doc:"those of them whose calls run code of a tier that is not known" text:"% is of an unknown tier|% are of an unknown tier;nonzero"`
	Tiers    []TierCount      `json:"tiers" doc:"bodies of methods by tier" text:"tiers|compiled methods;table"`
	Replaced []ReplacedMethod `json:"replaced" doc:"bodies whose IL a profiler replaced (ReJIT)" text:"replaced bodies|compiled methods"`
	Versions []ILVersion      `json:"versions" doc:"IL that a profiler asked to put in the place of a method's, compiled or not; of .NET 10 and later" text:"versions of IL|compiled methods"`
	// VersionsMissing is why Versions is incomplete or missing.
	VersionsMissing Reason `json:"versionsMissing,omitzero" doc:"why versions lacks some, or all" text:"requests of ReJIT"`
}

// A ReJITState is how far the substitution of an ILVersion has come.
type ReJITState string

// The states of an ILVersion.
const (
	ReJITRequested ReJITState = "requested"
	ReJITAsking    ReJITState = "the profiler is asked for the IL"
	ReJITReady     ReJITState = "has its IL"
)

// An ILVersion is IL that a profiler substitutes for a method's own (ReJIT).
type ILVersion struct {
	Node     target.Addr `json:"node" doc:"the runtime's ILCodeVersionNode" text:"node"`
	Method   target.Addr `json:"method,omitempty" doc:"MethodDesc of the method; none if it is not loaded" text:"method"`
	Token    uint32      `json:"token" doc:"token of the method in its module" text:"-"`
	Name     Text        `json:"name,omitzero" doc:"the method" text:"-"`
	ReJIT    uint64      `json:"rejit" doc:"ReJIT ID of the IL" text:"ReJIT;plain"`
	State    ReJITState  `json:"state" doc:"\"requested\", \"the profiler is asked for the IL\" or \"has its IL\"" text:"%"`
	Active   bool        `json:"active" doc:"calls are to run it" text:"active|not active"`
	Reverted bool        `json:"reverted" doc:"calls are to run the original IL: the profiler took all its versions back" text:"reverted: calls run the original IL"`
}

// Title returns the name of the method, or its token.
func (v *ILVersion) Title() string {
	if v.Name.IsZero() {
		return fmt.Sprintf("method %08x", v.Token)
	}
	return v.Name.String()
}

// A TierCount counts the bodies of a tier.
type TierCount struct {
	Tier   string `json:"tier" doc:"the tier, in SOS's words" text:"="`
	Bodies int64  `json:"bodies" doc:"bodies of that tier"`
	Active int64  `json:"active" doc:"those that calls run now"`
	Bytes  uint64 `json:"bytes" doc:"their size in bytes"`
}

// A ReplacedMethod is a body compiled from a profiler's IL.
type ReplacedMethod struct {
	Method target.Addr `json:"method" doc:"MethodDesc" text:"="`
	Name   Text        `json:"name" doc:"the method"`
	ReJIT  uint64      `json:"rejit" doc:"ReJIT ID of the IL" text:"IL of a profiler, ReJIT %;plain"`
	Code   target.Addr `json:"code" doc:"start of the code, 0x0 while it is not compiled" text:"code"`
	Active bool        `json:"active" doc:"calls run it now" text:"active|not active"`
}
