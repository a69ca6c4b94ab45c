package answer

import (
	"iter"

	"github.com/sosgo/sosgo/target"
)

// An Object is everything known about one object.
type Object struct {
	Gaps
	Address     target.Addr   `json:"address" doc:"address of the object"`
	Type        Text          `json:"type" doc:"its type"`
	MethodTable target.Addr   `json:"methodTable" doc:"MethodTable of its type"`
	Size        Maybe[uint64] `json:"size,omitzero" doc:"bytes, not rounded up"`
	Free        bool          `json:"free,omitempty" doc:"it is a free block of the heap"`
	File        Text          `json:"file,omitzero" doc:"file of the module that defines the type"`
	String      *string       `json:"string,omitempty" doc:"text of a string, at most 2,097,152 UTF-16 code units of it: dumpstring has all"`
	Length      *uint32       `json:"length,omitempty" doc:"UTF-16 code units of a string, elements of an array"`
	Rank        int           `json:"rank,omitempty" doc:"dimensions of an array"`
	Lengths     []int32       `json:"lengths,omitempty" doc:"elements of each dimension"`
	LowerBounds []int32       `json:"lowerBounds,omitempty" doc:"first index of each dimension"`
	Boxed       Line          `json:"boxed,omitempty" doc:"the value in a box"`
	RuntimeType *target.Addr  `json:"runtimeType,omitempty" doc:"TypeHandle that a System.RuntimeType stands for"`
	ThinLock    *ObjectLock   `json:"thinLock,omitempty" doc:"lock that is kept in the object's header"`
	FieldList
	Collection *CollectionSummary `json:"collection,omitempty" doc:"of a collection of the class libraries: its first elements"`
	Task       *TaskState         `json:"task,omitempty" doc:"of a task: its state, what it waits for, and who waits for it"`
	Words      []Word             `json:"words,omitempty" doc:"of an object whose fields are not known: its words behind the MethodTable"`
	References []Reference        `json:"references,omitempty" doc:"with -refs: the objects that it refers to"`

	Shown []Evaluation `json:"shown,omitempty" doc:"with -show: what the expressions are worth"`

	StringStart string `json:"-"` // if String is missing: the part that was read
	StringErr   error  `json:"-"` // why String is missing
	ArrayErr    error  `json:"-"` // why the bounds of an array are missing
	// ElementWord is how an array stores its elements: the name of a primitive type without its namespace, or CLASS,
	// VALUETYPE, PTR, SZARRAY or ARRAY.
	ElementWord string `json:"-"`
	// Content is the start of an array of bytes or characters as ASCII, with dots for other characters. It is nil for
	// other objects.
	Content *Text `json:"-"`
	// RuntimeTypeName is the type that a System.RuntimeType represents, or why it is unknown. It is nil for other
	// objects.
	RuntimeTypeName *Text `json:"-"`
	// HasReferences reports whether references were requested; the list may be empty.
	HasReferences bool `json:"-"`
}

// A Word is a word of an object with unknown fields.
type Word struct {
	Offset uint64 `json:"offset" doc:"bytes from the object's address"`
	Value  Hex    `json:"value" doc:"its 64 bits"`
	Type   Text   `json:"type,omitzero" doc:"type of the object that it refers to; absent for other words"`
}

// An ObjectLock is a lock in an object's header.
type ObjectLock struct {
	Owner     uint32      `json:"owner" doc:"managed id of the thread that holds it"`
	Thread    target.Addr `json:"thread" doc:"its Thread, 0x0 if there is none"`
	Recursion uint32      `json:"recursion" doc:"times that the thread entered again"`
}

// A Struct is a value type in place: in an object, an array or another struct.
type Struct struct {
	Gaps
	Address     target.Addr `json:"address" doc:"address of the first field"`
	Type        Text        `json:"type" doc:"the value type"`
	MethodTable target.Addr `json:"methodTable" doc:"its MethodTable"`
	Size        uint64      `json:"size" doc:"bytes of the value in a box"`
	File        Text        `json:"file,omitzero" doc:"file of the module that defines the type"`
	Text        Line        `json:"text,omitempty" doc:"the value on one line"`
	FieldList

	Class Class `json:"-"`
}

// A Class identifies the part of a type that generic instances may share: its EEClass. Since .NET 9 that is found only
// through the canonical MethodTable, which then stands for it.
type Class struct {
	Addr      target.Addr
	Err       error // why Addr is unknown
	Canonical bool  // Addr is the canonical MethodTable
}

// A FieldList lists the fields of a type. For an instance they have values.
type FieldList struct {
	Fields []Field `json:"fields,omitempty" doc:"fields, the base class's first"`

	FieldsErr error `json:"-"` // why fields are missing
}

// Listed reports whether fields were to be listed. They are not for a free block, for instance; a class without fields
// has an empty list.
func (l *FieldList) Listed() bool { return l.Fields != nil || l.FieldsErr != nil }

// A Field is a field with its value.
type Field struct {
	Name        Text               `json:"name" doc:"name of the field"`
	Token       string             `json:"token" doc:"metadata token, eight hexadecimal digits"`
	Declaring   Maybe[string]      `json:"declaringType,omitzero" doc:"type that declares it"`
	Type        Text               `json:"type" doc:"its declared type"`
	MethodTable Maybe[target.Addr] `json:"methodTable,omitzero" doc:"MethodTable of its type, 0x0 if that is not loaded"`
	InObject    uint32             `json:"offset" doc:"bytes from the start of the object, as the text has it in hexadecimal; of a value type in place from its first field; of a static from its class's statics, and the 8 that SOS adds"`
	Kind        FieldKind          `json:"kind" doc:"\"instance\", \"static\" or \"threadStatic\""`
	Place
	Threads []ThreadValue `json:"threads,omitempty" doc:"values of a thread static"`

	// Exact is the instance's type. Shared is the type in code shared by generic instances, as SOS shows it:
	// reference type arguments are System.__Canon.
	Exact, Shared TypeName `json:"-"`
	Offset        uint32   `json:"-"` // bytes from the first field; for a static, from the start of its class's statics
	InPlace       bool     `json:"-"` // the field holds its value, not a reference or pointer
	Inherited     bool     `json:"-"` // a base class declares it
}

// A Place is the address of a field and its value.
type Place struct {
	Address *target.Addr `json:"address,omitempty" doc:"where it is stored; of a static struct the reference to its box"`
	Stored

	// Doubtful reports, for a static, that it is unknown whether the class constructor has run.
	Doubtful bool `json:"-"`
	// Slot is Address, but also set for an uninitialised static; 0 if there is no storage.
	Slot target.Addr `json:"-"`
	// SoFar is the memory of an uninitialised static, which is not yet its value. It is nil if there is no storage.
	SoFar *Stored `json:"-"`
}

// A TypeName is a type in a listing.
type TypeName struct {
	MethodTable Maybe[target.Addr] // 0 if the type is not loaded
	Name        Text
}

// A FieldKind is where a field is stored.
type FieldKind string

// The kinds of fields.
const (
	FieldInstance     FieldKind = "instance"
	FieldStatic       FieldKind = "static"
	FieldThreadStatic FieldKind = "threadStatic"
	FieldRVA          FieldKind = "rva" // a static stored in the module's image
)

// A ThreadValue is one thread's value of a thread static.
type ThreadValue struct {
	Thread uint32 `json:"osThread" doc:"OS id of the thread"`
	Stored

	Address target.Addr `json:"-"` // where it is stored; for a struct, where the reference to its box is
}

// A Reference is one reference of an object.
type Reference struct {
	Field  Text        `json:"field,omitzero" doc:"field that holds it, with a dot between nested structs; empty in arrays"`
	Offset uint64      `json:"offset" doc:"bytes from the first field, as the text has it"`
	Object target.Addr `json:"object" doc:"address of the object referred to"`
	Type   Text        `json:"type" doc:"its type"`

	// Implied reports a reference that is not stored in the object: the one of a collectible type to its
	// LoaderAllocator.
	Implied bool `json:"-"`
}

// An Array is an array with its elements.
type Array struct {
	Gaps
	Address            target.Addr               `json:"address" doc:"address of the array"`
	Type               Text                      `json:"type" doc:"its type"`
	MethodTable        target.Addr               `json:"methodTable" doc:"MethodTable of its type"`
	Size               uint64                    `json:"size" doc:"bytes, not rounded up"`
	Rank               int                       `json:"rank" doc:"dimensions"`
	Lengths            []int32                   `json:"lengths" doc:"elements of each dimension"`
	LowerBounds        []int32                   `json:"lowerBounds" doc:"first index of each dimension"`
	ElementType        Text                      `json:"elementType" doc:"type of the elements"`
	ElementMethodTable target.Addr               `json:"elementMethodTable" doc:"TypeHandle of the elements' type"`
	Elements           iter.Seq2[Element, error] `json:"elements" doc:"in the order of memory"`

	Class       Class  `json:"-"`
	Length      uint32 `json:"-"` // number of elements in all dimensions
	ElementWord string `json:"-"` // as Object.ElementWord
}

// An Element is one element of an array.
type Element struct {
	Index   []int32     `json:"index" doc:"index in each dimension"`
	Address target.Addr `json:"address" doc:"where it is stored"`
	Stored
	Object *Object `json:"object,omitempty" doc:"with -details: the object that it refers to"`
	Struct *Struct `json:"struct,omitempty" doc:"with -details: the value type that it is"`

	ObjectErr error `json:"-"` // why Object is missing though requested
}

// A StaticField is one static field. A thread static has a value per thread that has used it.
type StaticField struct {
	DeclaringType Text        `json:"declaringType" doc:"type that declares the field"`
	MethodTable   target.Addr `json:"methodTable" doc:"its MethodTable"`
	Name          Text        `json:"name" doc:"name of the field"`
	Type          Text        `json:"type" doc:"its declared type"`
	Kind          FieldKind   `json:"kind" doc:"\"static\", \"threadStatic\" or \"rva\": stored in the module's image"`
	Thread        *Thread     `json:"thread,omitempty" doc:"the thread that this value of a thread static belongs to"`
	Place
}

// A DelegateCall is one call that a delegate makes.
type DelegateCall struct {
	Delegate target.Addr `json:"delegate" doc:"the delegate of this call: the one asked for, or one of its invocation list"`
	Target   target.Addr `json:"target" doc:"object that the method is called on; of a static method the delegate itself"`
	Method   target.Addr `json:"method" doc:"MethodDesc, 0x0 if it is not known"`
	Name     string      `json:"name,omitempty" doc:"the method"`
	Missing  Reason      `json:"missing,omitzero" doc:"why the method, or its name, is not known"`
}

// A String is the whole text of a string.
type String struct {
	Address target.Addr `json:"address" doc:"address of the string"`
	Length  uint32      `json:"length" doc:"number of UTF-16 code units"`
	Text    LongText    `json:"text,omitzero" doc:"the text, unless it went to a file"`
	File    string      `json:"file,omitempty" doc:"the file that it was written to"`
}

// A RuntimeType is a System.RuntimeType object.
type RuntimeType struct {
	Address target.Addr `json:"address" doc:"of the RuntimeType object"`
	Handle  target.Addr `json:"typeHandle" doc:"MethodTable of the type, or its TypeDesc with the second bit set"`
	Name    Text        `json:"name,omitzero" doc:"of the type"`

	Domain target.Addr `json:"-"` // the AppDomain
}

// A LoadedType is a loaded type with the heap objects of exactly this type.
type LoadedType struct {
	MethodTable target.Addr `json:"methodTable" doc:"its MethodTable"`
	Name        Text        `json:"name" doc:"its name"`
	BaseSize    uint32      `json:"baseSize" doc:"bytes of an object without its elements"`
	Count       *uint64     `json:"count,omitempty" doc:"objects of exactly this type on the heap; absent if they were not counted, or none was met in a heap that can't be read whole"`
	Size        *uint64     `json:"size,omitempty" doc:"their bytes"`
}

// Exceptions are the exception objects of the heap.
type Exceptions struct {
	Gaps
	Exceptions iter.Seq2[HeapException, error] `json:"exceptions" doc:"by address"`
	// Count is known once Exceptions are read.
	Count Maybe[uint64] `json:"count,omitzero" doc:"how many"`
}

// A HeapException is an exception object in short.
type HeapException struct {
	Address     target.Addr `json:"address" doc:"the exception object"`
	MethodTable target.Addr `json:"methodTable" doc:"its type"`
	Type        Text        `json:"type" doc:"name of its type"`
	Message     *Text       `json:"message,omitempty" doc:"its message; absent if it has none of its own"`
	Frame       Text        `json:"frame,omitzero" doc:"innermost frame of its stack trace; absent if it was not thrown"`
}

// A LoadContext is an AssemblyLoadContext: its managed object, or the default context, which may lack an object.
type LoadContext struct {
	Default bool `json:"default,omitempty" doc:"the default context, whose managed object was never made: nothing else is known of it"`
	// Object is nil for the default context without an object.
	Object *Object `json:",inline"`
}

func (l *LoadContext) own() *Gaps {
	if l.Object == nil {
		return nil
	}
	return l.Object.own()
}

// Noted returns the answer's gaps.
func (l *LoadContext) Noted() []error {
	if l.Object == nil {
		return nil
	}
	return l.Object.Noted()
}

// Failure returns why the whole answer is unusable, or nil.
func (l *LoadContext) Failure() error {
	if l.Object == nil {
		return nil
	}
	return l.Object.Failure()
}
