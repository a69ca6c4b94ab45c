package answer

import (
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// Stacks lists the stacks of threads.
type Stacks struct {
	Gaps
	// Threads lists the threads in order. The frames of one must be read before the next one is requested.
	Threads iter.Seq2[*ThreadStack, error] `json:"-"`
	// Frames lists the frames of all Threads.
	Frames iter.Seq2[*Frame, error] `json:"frames"`
	// Debug is the stack as the debugging API shows it, if requested.
	Debug iter.Seq2[DebugFrame, error] `json:"-"`
}

// NewStacks returns an answer about threads.
func NewStacks(threads iter.Seq2[*ThreadStack, error]) *Stacks {
	s := &Stacks{}
	s.Threads = passed(&s.Gaps, threads)
	s.Frames = flatten(s.Threads, func(t *ThreadStack) iter.Seq2[*Frame, error] { return t.Frames })
	return s
}

// passed returns rows as the list of an answer with the gaps g.
func passed[T any](g *Gaps, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return NewRows(g, func(yield func(T, error) bool) error {
		rows(yield)
		return nil
	})
}

// flatten yields the rows of all threads, one thread after the other. It fails if the threads or the rows of one do.
func flatten[T, R any](threads iter.Seq2[*T, error], rows func(*T) iter.Seq2[R, error]) iter.Seq2[R, error] {
	return NewRows(nil, func(yield func(R, error) bool) error {
		for t, err := range threads {
			if err != nil {
				var none R
				if !yield(none, err) {
					return nil
				}
				continue
			}
			list := rows(t)
			if list == nil {
				continue
			}
			for r, err := range list {
				if !yield(r, err) {
					return nil
				}
			}
		}
		return nil
	})
}

// A ThreadID identifies a thread by its numbers.
type ThreadID struct {
	OSID  uint32 // 0 if there is no OS thread
	Index int    // among the threads of the OS; -1 if it is not among them
}

// A ThreadStack is the stack of one thread.
type ThreadStack struct {
	ThreadID
	// Frames lists the frames, from the leaf outwards. It is nil for a thread that has run no managed code.
	Frames iter.Seq2[*Frame, error]
}

// A FrameKind is the kind of a Frame.
type FrameKind string

// The kinds of a Frame.
const (
	FrameManaged  FrameKind = "managed"
	FrameExplicit FrameKind = "explicit"
	FrameNative   FrameKind = "native"
	FrameOther    FrameKind = "other" // a run of frames of another runtime
)

// TrustReport is the Trust of a frame that a crash report lists.
const TrustReport = "report"

// A Frame is one entry of a stack. Fields that were not requested, or that do not apply to its kind, are zero.
type Frame struct {
	OSID         uint32             `json:"osId" doc:"OS id of the thread"`
	Kind         FrameKind          `json:"kind" doc:"managed, explicit (the runtime's own frame), native, or other: a run of frames of another runtime of the process"`
	SP           Maybe[target.Addr] `json:"sp,omitzero" doc:"stack pointer; of an explicit frame its address; absent if it is not known"`
	IP           Maybe[target.Addr] `json:"ip,omitzero" doc:"instruction pointer; absent if it is not known"`
	Trust        string             `json:"trust" doc:"how the frame was found: context, unwind, frame pointer, scan, report (a crash report lists it)"`
	AtException  bool               `json:"atException,omitempty" doc:"the walk began here: at the registers of the exception that the dump was written for, and not those that the thread had then"`
	Guessed      bool               `json:"-"` // found without unwind data
	Class        string             `json:"frame,omitempty" doc:"class of an explicit frame"`
	Method       Text               `json:"method,omitzero" doc:"the method"`
	MethodDesc   target.Addr        `json:"methodDesc,omitempty" doc:"its MethodDesc"`
	Exact        string             `json:"exact,omitempty" doc:"the method with the frame's type arguments, if its code is shared by instances and the method's name has System.__Canon"`
	Module       string             `json:"module,omitempty" doc:"file name of the module"`
	Offset       *uint64            `json:"offset,omitempty" doc:"absent where neither is known; of the instruction pointer in the method, or in the module of a native frame"`
	Generated    bool               `json:"generated,omitempty" doc:"of a native frame: it is in code that a runtime made which can't be read, a compiled method or a stub"`
	Symbol       string             `json:"symbol,omitempty" doc:"of a native frame: what the module exports there"`
	SymbolOffset uint64             `json:"symbolOffset,omitempty" doc:"of the instruction pointer from the symbol"`
	File         string             `json:"file,omitempty" doc:"source file"`
	Line         int                `json:"line,omitempty" doc:"line in it"`
	SourceErr    error              `json:"-"` // why a managed frame has no File, if source was asked for: often its PDB is missing
	Registers    FrameRegisters     `json:"registers,omitzero" doc:"with -r: the registers that are known"`
	Arguments    []Variable         `json:"arguments,omitempty" doc:"with -a or -p: the arguments"`
	Locals       []Variable         `json:"locals,omitempty" doc:"with -a or -l: the locals"`
	References   []Root             `json:"references,omitempty" doc:"with -gc: the references that the frame holds, as the garbage collector sees it"`
	Cycle        int                `json:"cycle,omitempty" doc:"with -fold: number of frames, from this one on, that repeat themselves together"`
	Repeat       int                `json:"repeat,omitempty" doc:"with -fold: how often these frames were there"`
	Runtime      *int               `json:"runtime,omitempty" doc:"of the kind other: number of the runtime whose frames they are"`
	Count        int                `json:"count,omitempty" doc:"of the kind other: how many frames there are"`
	// Err is why the walk ended here, before the end of the stack.
	Err Reason `json:"error,omitzero" doc:"why the walk ended here"`
}

// Name returns the most exact known name of the method. It is empty for a frame without one: see NativeName and Class.
func (f *Frame) Name() string {
	if f.Exact != "" {
		return f.Exact
	}
	return f.Method.String()
}

// NativeName names the code of a native frame: the preceding symbol, or the module, plus the distance from there.
func (f *Frame) NativeName() string {
	switch {
	case f.Generated:
		return "[code made by the runtime: a compiled method or a stub]"
	case f.Symbol != "":
		return fmt.Sprintf("%s!%s+%#x", f.Module, f.Symbol, f.SymbolOffset)
	case f.Module != "" && f.Offset != nil:
		return fmt.Sprintf("%s+%#x", f.Module, *f.Offset)
	}
	return "[code in no module]"
}

// FrameRegisters holds the known registers of a frame.
type FrameRegisters struct{ target.Registers }

// IsZero reports whether no register is known.
func (r FrameRegisters) IsZero() bool { return !r.Known() }

// JSONValue returns the known registers by name.
func (r FrameRegisters) JSONValue() any {
	known := map[string]target.Addr{}
	for reg, v := range r.All {
		known[target.RegName(r.Arch, reg)] = target.Addr(v)
	}
	return known
}

// MarshalJSON encodes an object with a field for each known register.
func (r FrameRegisters) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(&r) }

// JSONType returns a pointer to the type that MarshalJSON writes, for documentation.
func (FrameRegisters) JSONType() any { return new(map[string]target.Addr) }

// A VariableState is whether the value of a Variable is known. If an error keeps it from being known, the state has the
// words of Absent without their brackets, such as "not in dump".
type VariableState string

// The states of a Variable that are not errors.
const (
	VariableValue  VariableState = "value"
	VariableNoData VariableState = "no data"
)

// A Variable is an argument or a local of a frame.
type Variable struct {
	Name     string        `json:"name,omitempty" doc:"name, from metadata or the PDB; absent if neither has it"`
	Index    int           `json:"index" doc:"number among the arguments or among the locals"`
	Type     Text          `json:"type" doc:"declared type"`
	State    VariableState `json:"state" doc:"value, no data (optimised away, or not live here), not in dump, not supported or corrupt"`
	Register string        `json:"register,omitempty" doc:"register that it is in"`
	Address  target.Addr   `json:"address,omitempty" doc:"place in memory that it is in"`
	Word     Hex           `json:"word,omitempty" doc:"the number that stands there"`
	Value    string        `json:"value,omitempty" doc:"the value as text"`

	Located  bool  `json:"-"` // its place is known
	Split    bool  `json:"-"` // it is in two places at once
	WordSize int   `json:"-"` // bytes of Word
	WordErr  error `json:"-"` // why Word is missing
	// Stored is the value in the form of a field's: a reference, or the members of a value type. If State is set, its
	// Missing is set.
	Stored Stored `json:"-"`
}

// A Root is a register or a stack word that holds a reference, as reported to the garbage collector.
type Root struct {
	Place    string      `json:"place,omitempty" doc:"the register, or register and offset, of the reference; absent in an explicit frame"`
	Address  target.Addr `json:"address,omitempty" doc:"the word of the stack; absent for a register"`
	Object   target.Addr `json:"object" doc:"what it holds: null, or the address of an object, or of anything if interior"`
	Type     Text        `json:"type,omitzero" doc:"type of the object"`
	Value    QuotedText  `json:"value,omitzero" doc:"text of a string"`
	Interior bool        `json:"interior,omitempty" doc:"it may point into an object, or at none"`
	Pinned   bool        `json:"pinned,omitempty" doc:"it keeps the object where it is"`
}

// A QuotedText is the start of a string, shown in quotes.
type QuotedText struct {
	Text
	Present bool // there is a string
}

// IsZero reports whether there is no string.
func (q QuotedText) IsZero() bool { return !q.Present }

// String returns the text in quotes, or the word for its absence.
func (q QuotedText) String() string {
	if q.Err != nil {
		return q.Text.String()
	}
	return `"` + q.S + `"`
}

// MarshalText returns String, for formats that have only text.
func (q QuotedText) MarshalText() ([]byte, error) { return []byte(q.String()), nil }

// JSONValue returns the text in quotes, or nil if it is missing.
func (q QuotedText) JSONValue() any {
	if q.Err != nil {
		return nil
	}
	return q.String()
}

// MarshalJSON encodes the text in quotes, or null where it is missing.
func (q QuotedText) MarshalJSON() ([]byte, error) { return jsonenc.Marshal(&q) }

// JSONType returns a pointer to the type of the text, for documentation.
func (QuotedText) JSONType() any { return new(string) }

// A DebugFrame is one entry of a stack as the debugging API shows it.
type DebugFrame struct {
	SP, IP target.Addr // IP is 0 for a Label
	Label  string      // the API's name for a frame of the runtime
	Native bool        // stands for a run of native frames
	// Method is the method with its signature, from metadata, and Module its file. For a method without metadata,
	// Method is its name and Unnamed is set.
	Method, Module Text
	Unnamed        bool
}

// ParallelStacks is the stacks of threads, merged from their outermost callers.
type ParallelStacks struct {
	Gaps
	Roots   []*StackCall                  `json:"-"` // the outermost callers
	Threads int                           `json:"-"` // number of threads with a stack
	Stacks  iter.Seq2[MergedStack, error] `json:"stacks"`
}

// A StackCall is a call that threads have in common.
type StackCall struct {
	Name     Text         // the method, its parameters without namespaces
	FullName Text         // the method as SOS prints it
	Threads  []uint32     // OS ids of the threads in this call or its callees
	Own      []uint32     // OS ids of the threads in this call itself
	Calls    []*StackCall // callees
}

// A MergedStack is a stack with the threads that have it.
type MergedStack struct {
	Threads []uint32 `json:"threads" doc:"OS ids of the threads that have this stack"`
	Methods []Text   `json:"methods" doc:"the methods, from the one that is running on"`
}

// NewParallelStacks returns an answer about the calls of threads.
func NewParallelStacks(roots []*StackCall, threads int) *ParallelStacks {
	s := &ParallelStacks{Roots: roots, Threads: threads}
	s.Stacks = NewRows(&s.Gaps, s.stacks)
	return s
}

// stacks yields each distinct stack once.
func (s *ParallelStacks) stacks(yield func(MergedStack, error) bool) error {
	type place struct {
		call  *StackCall
		depth int
	}
	var path []*StackCall
	var todo []place
	push := func(calls []*StackCall, depth int) {
		for _, c := range slices.Backward(calls) {
			todo = append(todo, place{c, depth})
		}
	}
	push(s.Roots, 0)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		path = append(path[:at.depth], at.call)
		if len(at.call.Own) > 0 {
			row := MergedStack{Threads: at.call.Own}
			for _, c := range slices.Backward(path) {
				row.Methods = append(row.Methods, c.FullName)
			}
			if !yield(row, nil) {
				return nil
			}
		}
		push(at.call.Calls, at.depth+1)
	}
	return nil
}

// Returns lists the words of stacks that look like return addresses.
type Returns struct {
	Gaps
	Threads iter.Seq2[*ThreadReturns, error] `json:"-"`
	Returns iter.Seq2[Return, error]         `json:"returns"` // of all Threads
}

// NewReturns returns an answer about threads.
func NewReturns(threads iter.Seq2[*ThreadReturns, error]) *Returns {
	r := &Returns{}
	r.Threads = passed(&r.Gaps, threads)
	r.Returns = flatten(r.Threads, func(t *ThreadReturns) iter.Seq2[Return, error] { return t.Returns })
	return r
}

// ThreadReturns are the return addresses on the stack of one thread.
type ThreadReturns struct {
	ThreadID
	Current string                   // the code that the thread runs; empty without an OS thread
	Returns iter.Seq2[Return, error] // nil for a thread that was skipped or has no stack
}

// A Return is the trace of a call that is active or has ended.
type Return struct {
	OSID     uint32      `json:"osId,omitempty" doc:"OS id of the thread"`
	Slot     target.Addr `json:"slot" doc:"the word of the stack"`
	IP       target.Addr `json:"ip" doc:"the return address"`
	Method   string      `json:"method,omitempty" doc:"the method or the native module that the address is in, with the nearest export"`
	Trust    string      `json:"trust" doc:"scan: the call may have ended long ago"`
	Callee   target.Addr `json:"callee,omitempty" doc:"target of the call before it, if the code has it"`
	CalleeIn string      `json:"calleeIn,omitempty" doc:"the method or native module of the callee"`
}

// StackObjects lists the objects that stacks and registers refer to.
type StackObjects struct {
	Gaps
	Threads iter.Seq2[*ThreadObjects, error] `json:"-"`
	Objects iter.Seq2[StackObject, error]    `json:"objects"` // of all Threads
}

// NewStackObjects returns an answer about threads.
func NewStackObjects(threads iter.Seq2[*ThreadObjects, error]) *StackObjects {
	s := &StackObjects{}
	s.Threads = passed(&s.Gaps, threads)
	s.Objects = flatten(s.Threads, func(t *ThreadObjects) iter.Seq2[StackObject, error] { return t.Objects })
	return s
}

// ThreadObjects are the objects that one thread refers to.
type ThreadObjects struct {
	ThreadID
	// Normal is the thread's own stack if it runs on an alternate signal stack. Both are scanned.
	Normal  *Range
	Precise bool // the objects are those that the garbage collector considers live
	// Objects is nil if the stack is not in the dump.
	Objects iter.Seq2[StackObject, error]
}

// A StackObject is an object that a register or a word of a stack refers to.
type StackObject struct {
	OSID        uint32      `json:"osId,omitempty" doc:"OS id of the thread"`
	Slot        target.Addr `json:"slot,omitempty" doc:"the word of the stack that refers to the object"`
	Register    string      `json:"register,omitempty" doc:"the register that does"`
	Object      target.Addr `json:"object" doc:"the object"`
	MethodTable target.Addr `json:"-"`
	Type        Text        `json:"type" doc:"its type"`
	Value       string      `json:"value,omitempty" doc:"text of a string, message of an exception"`
	Frame       target.Addr `json:"frame,omitempty" doc:"with -precise: stack pointer of the frame that holds the reference"`
	Interior    bool        `json:"interior,omitempty" doc:"with -precise: it may point into an object, or at none"`
	Pinned      bool        `json:"pinned,omitempty" doc:"with -precise: it keeps the object where it is"`
	Unproven    bool        `json:"unproven,omitempty" doc:"no walk of the heap reaches the object: it looks like one"`

	Held *HeldReference `json:"-"` // set if ThreadObjects.Precise
}

// A HeldReference is a reference and the frame that holds it.
type HeldReference struct {
	Root
	FrameSP, FrameIP target.Addr
	Holder           Text // the method, or in brackets the class of an explicit frame
}

// A Profile is the stacks of a process for other tools: one sample per thread. Places are stored once, so
// each recursive call costs one number.
type Profile struct {
	Gaps
	File    string                         `json:"file,omitempty"` // that it was written to
	Rows    iter.Seq2[ThreadSample, error] `json:"stacks,omitzero"`
	Frames  []ProfileFrame                 `json:"-"`
	Program string                         `json:"-"` // the module with the outermost managed frame of thread 0; empty if it has none
	Threads []ProfileStack                 `json:"-"`

	index map[ProfileFrame]int
}

// A ProfileStack is the stack of one thread in a Profile.
type ProfileStack struct {
	Index     int // the thread's number in the list of threads
	OSID      uint32
	ManagedID uint32 // 0 if the runtime does not know it
	Name      string // the thread's name; may be empty
	Frames    []int  // indexes into Profile.Frames, from the leaf outwards
}

// A ProfileFrame is one place in the code.
type ProfileFrame struct {
	IP     target.Addr `json:"ip" doc:"instruction pointer"`
	Name   string      `json:"name" doc:"the method, or the place in native code"`
	Module string      `json:"module,omitempty" doc:"file name of the module"`
	File   string      `json:"file,omitempty" doc:"source file"`
	Line   int         `json:"line,omitempty" doc:"line in it"`
}

// A ThreadSample is a ProfileStack with its frames.
type ThreadSample struct {
	OSID      uint32         `json:"osId" doc:"OS id of the thread"`
	ManagedID uint32         `json:"managedId,omitempty" doc:"its managed id"`
	Name      string         `json:"name,omitempty" doc:"its name"`
	Frames    []ProfileFrame `json:"frames" doc:"the frames, from the leaf on"`
}

// NewProfile returns an empty Profile.
func NewProfile() *Profile {
	p := &Profile{index: map[ProfileFrame]int{}}
	p.Rows = NewRows(&p.Gaps, p.samples)
	return p
}

// Frame returns the index of f in Frames. It adds f if it is new.
func (p *Profile) Frame(f ProfileFrame) int {
	i, ok := p.index[f]
	if !ok {
		i = len(p.Frames)
		if p.index == nil {
			p.index = map[ProfileFrame]int{}
		}
		p.index[f] = i
		p.Frames = append(p.Frames, f)
	}
	return i
}

// Written returns the answer for a Profile that was written to a file.
func (p *Profile) Written(file string) *Profile {
	out := *p
	out.File, out.Rows = file, nil
	return &out
}

func (p *Profile) samples(yield func(ThreadSample, error) bool) error {
	for i := range p.Threads {
		t := &p.Threads[i]
		row := ThreadSample{OSID: t.OSID, ManagedID: t.ManagedID, Name: t.Name, Frames: make([]ProfileFrame, len(t.Frames))}
		for k, at := range t.Frames {
			row.Frames[k] = p.Frames[at]
		}
		if !yield(row, nil) {
			return nil
		}
	}
	return nil
}
