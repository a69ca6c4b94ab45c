package answer

import (
	"math"
	"strconv"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/target"
)

// A ValueKind is the kind of a Value.
type ValueKind uint8

// The kinds of values.
const (
	KindUnknown   ValueKind = iota // unreadable
	KindBool                       // a System.Boolean
	KindChar                       // a System.Char: a UTF-16 code unit
	KindInt                        // signed, 8 to 64 bits; an enum too
	KindUint                       // unsigned, 8 to 64 bits; an enum too
	KindFloat                      // 32 or 64 bits
	KindPointer                    // native integers, pointers, pointers to functions
	KindByRef                      // an interior or stack address
	KindReference                  // a reference to an object, or null
	KindStruct                     // a value type in place
)

// String returns the kind's name.
func (k ValueKind) String() string {
	words := [...]string{"unknown", "bool", "char", "int", "uint", "float", "pointer", "byref", "reference", "struct"}
	if int(k) < len(words) {
		return words[k]
	}
	return "ValueKind(" + strconv.Itoa(int(k)) + ")"
}

// A Value is the content of a field, an element or a variable. In JSON it is a number, a boolean, an address as a
// string, or null for a null reference; for a struct, the address of its first field. 64-bit integers are strings,
// because readers that convert numbers to doubles lose digits.
type Value struct {
	Kind ValueKind
	Size int         // in bytes; 0 for a struct
	Bits uint64      // the bytes as a little-endian number, not sign-extended; 0 for a struct
	At   target.Addr // where it is stored; 0 for a register
}

// IsZero reports whether the value is unknown.
func (v Value) IsZero() bool { return v.Kind == KindUnknown }

// Int returns the value of a KindInt.
func (v Value) Int() int64 {
	shift := 64 - 8*v.Size
	return int64(v.Bits<<shift) >> shift
}

// Float returns the value of a KindFloat.
func (v Value) Float() float64 {
	if v.Size == 4 {
		return float64(math.Float32frombits(uint32(v.Bits)))
	}
	return math.Float64frombits(v.Bits)
}

// Shortest returns the shortest form of a KindFloat that parses to the same value.
func (v Value) Shortest() string {
	return strconv.FormatFloat(v.Float(), 'g', -1, max(32, min(64, 8*v.Size)))
}

// Plain returns the value as a number or a prefixed address, for use where no text is known.
func (v Value) Plain() string {
	var few [24]byte
	return string(v.AppendPlain(few[:0]))
}

// AppendPlain appends the result of Plain.
func (v Value) AppendPlain(b []byte) []byte {
	switch v.Kind {
	case KindInt:
		return strconv.AppendInt(b, v.Int(), 10)
	case KindUint:
		return strconv.AppendUint(b, v.Bits, 10)
	case KindBool:
		return strconv.AppendBool(b, v.Bits != 0)
	case KindFloat:
		return strconv.AppendFloat(b, v.Float(), 'g', -1, 8*v.Size)
	case KindReference:
		if v.Bits == 0 {
			return append(b, "null"...)
		}
		return append(b, target.Addr(v.Bits).String()...)
	case KindStruct:
		return append(b, "{…}"...)
	}
	return strconv.AppendUint(append(b, "0x"...), v.Bits, 16)
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// AppendJSON appends the value as JSON.
func (v Value) AppendJSON(b []byte) []byte {
	switch v.Kind {
	case KindUnknown:
		return append(b, "null"...)
	case KindBool:
		return strconv.AppendBool(b, v.Bits != 0)
	case KindInt, KindUint, KindChar:
		return v.appendInteger(b)
	case KindFloat:
		f := v.Float()
		if math.IsNaN(f) || math.IsInf(f, 0) { // JSON has no number for it
			return append(append(append(b, '"'), v.Shortest()...), '"')
		}
		return strconv.AppendFloat(b, f, 'g', -1, 8*v.Size)
	case KindReference:
		if v.Bits == 0 {
			return append(b, "null"...)
		}
	case KindStruct:
		return appendJSONAddr(b, v.At)
	}
	return appendJSONAddr(b, target.Addr(v.Bits))
}

func (v Value) appendInteger(b []byte) []byte {
	long := v.Size == 8
	if long {
		b = append(b, '"')
	}
	if v.Kind == KindInt {
		b = strconv.AppendInt(b, v.Int(), 10)
	} else {
		b = strconv.AppendUint(b, v.Bits, 10)
	}
	if long {
		b = append(b, '"')
	}
	return b
}

func appendJSONAddr(b []byte, a target.Addr) []byte {
	return append(strconv.AppendUint(append(b, `"0x`...), uint64(a), 16), '"')
}

// JSONType returns a pointer to the type that MarshalJSON writes, for documentation: any.
func (v Value) JSONType() any { return new(any) }

// Stored is the content of a place in memory, or why it is unknown. Answers embed it.
type Stored struct {
	Value   Value   `json:"value,omitzero" doc:"number, of 64 bits as a string, boolean, string with a 0x address, or null; absent if it is not known"`
	Text    Line    `json:"text,omitempty" doc:"the value on one line, for people, where that says more"`
	Members Members `json:"struct,omitzero" doc:"of a value type: its fields, or the elements of an inline array"`
	Missing Reason  `json:"missing,omitzero" doc:"why there is no value"`
}

// Plain returns Text, or else Value, on one line. If both are missing, it returns the word from Absent.
func (s *Stored) Plain() string {
	switch {
	case s.Missing.Err != nil:
		return Absent(s.Missing.Err)
	case len(s.Text) > 0:
		return s.Text.String()
	}
	return s.Value.Plain()
}

// Members is the fields of a value type in place. They are read when listed, because most formats show only the value
// on one line.
type Members struct {
	list  func(at target.Addr, depth int) []Member
	at    target.Addr
	depth int
}

// A Member is one field of a value type, or one element of an inline array.
type Member struct {
	Name Text `json:"name" doc:"of the field; of an element its index"`
	Stored
}

// NewMembers returns members that are read with list.
func NewMembers(list func() []Member) Members {
	return Members{list: func(target.Addr, int) []Member { return list() }}
}

// MembersAt returns members that are read with list for the value at an address, at a nesting depth. One function
// then serves all values of a type.
func MembersAt(list func(at target.Addr, depth int) []Member, at target.Addr, depth int) Members {
	return Members{list, at, depth}
}

// IsZero reports whether the value is not a value type.
func (p Members) IsZero() bool { return p.list == nil }

// List reads the members.
func (p Members) List() []Member {
	if p.list == nil {
		return nil
	}
	return p.list(p.at, p.depth)
}

// AppendJSON appends the list as JSON.
func (p Members) AppendJSON(b []byte) []byte {
	if p.list == nil {
		return append(b, "null"...)
	}
	return jsonenc.AppendList(b, p.List())
}

// MarshalJSON encodes the list.
func (p Members) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// JSONType returns a pointer to the type of the list, for documentation.
func (Members) JSONType() any { return new([]Member) }

// A Reason is an error in an answer. In JSON it is the error's text.
type Reason struct{ Err error }

// IsZero reports whether there is no error.
func (r Reason) IsZero() bool { return r.Err == nil }

// MarshalText implements encoding.TextMarshaler.
func (r Reason) MarshalText() ([]byte, error) {
	if r.Err == nil {
		return nil, nil
	}
	return []byte(r.Err.Error()), nil
}

// ErrHidden is the Reason of a value that is a part of a secret, such as a character, where secrets are masked.
var ErrHidden = target.Unsupportedf("characters and bytes of secrets are not shown where secrets are masked")

// ErrInitializerFailed is the Reason of a static field if its class constructor threw an exception. The runtime then
// throws a TypeInitializationException at every use of the class. errors.Is matches it to ErrNotInitialised.
var ErrInitializerFailed error = initializerFailed{}

type initializerFailed struct{}

func (initializerFailed) Error() string { return "the class initializer failed: it threw an exception" }

func (initializerFailed) Unwrap() error { return ErrNotInitialised }

// Advice returns the command that finds the exception.
func (initializerFailed) Advice() string {
	return "dumpexceptions -type TypeInitializationException lists what was thrown"
}

// ErrNotInitialised is the Reason of a static field without a value, not even zero: its class constructor has not
// finished, or it has no storage yet.
var ErrNotInitialised = target.Unsupportedf("not initialised")

// ErrNoHeapYet is the Reason of a heap that the process had not created when the dump was taken. The runtime's
// pointer to it is in the dump and null.
var ErrNoHeapYet = target.Unsupportedf("the GC heap is not initialized yet")
