package query

import (
	"iter"
	"math"
	"strconv"

	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// A Kind is the kind of a Value.
type Kind uint8

// The kinds of values.
const (
	KindError   Kind = iota // a value that could not be read or computed
	KindNull                // a null reference, or a Nullable without a value
	KindBool                // true or false
	KindChar                // a UTF-16 code unit
	KindInt                 // a signed integer
	KindUint                // an unsigned integer, an address, a pointer
	KindFloat               // a Single or Double
	KindDecimal             // a System.Decimal
	KindText                // text that is not an object of the dump
	KindObject              // an object; a string is one
	KindStruct              // a value type in place
	KindType                // a type
	KindList                // several values
)

var kindWords = [...]string{"error", "null", "bool", "char", "integer", "integer", "float", "decimal", "text", "object", "struct", "type", "list"}

// String returns the kind in words.
func (k Kind) String() string { return kindWords[k] }

// A Value is the value of an expression. The zero Value is an error without a reason. A Value does not allocate.
type Value struct {
	kind Kind
	hex  bool // of a KindUint: an address, and an object if one starts there
	// secret: something on the path to the value announced a secret: a field's name, a key, or an option before it. What is read through it is one, too.
	secret bool
	note   note   // qualifies a number
	bits   uint64 // the number; the address of an object or struct; of a decimal its low 64 bits
	aux    uint64 // of a decimal: the high 32 bits, the scale << 32, the sign << 63
	text   string
	typ    *objects.Type // type of an object, if known, of a struct, of an enum; the type that a KindType is
	as     *objects.Type // class to which a cast changed an object: its fields precede those that hide them
	list   *list
	err    error
}

// A note qualifies a number.
type note uint8

const (
	noNote         note = iota
	noteNullable        // a KindStruct that is the value of a Nullable
	noteGeneration      // a KindInt that is the number of a generation (generationNumber)
	noteSingle          // a KindFloat that is a System.Single
	noteLiteral         // a KindFloat that the user wrote without a type: it takes the type of the other operand
)

// A list is the value of refs and referrers.
type list struct{ all iter.Seq[Value] }

// null is the null reference.
var null = Value{kind: KindNull}

// Null returns the null reference.
func Null() Value { return null }

// Bool returns a truth value.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, bits: 1}
	}
	return Value{kind: KindBool}
}

// Int returns a signed integer.
func Int(n int64) Value { return Value{kind: KindInt, bits: uint64(n)} }

// Uint returns an unsigned integer.
func Uint(n uint64) Value {
	if n <= math.MaxInt64 {
		return Value{kind: KindInt, bits: n}
	}
	return Value{kind: KindUint, bits: n}
}

// Address returns an address. It is displayed in hexadecimal.
func Address(a target.Addr) Value { return Value{kind: KindUint, bits: uint64(a), hex: true} }

// Float returns a floating-point number.
func Float(f float64) Value { return Value{kind: KindFloat, bits: math.Float64bits(f)} }

func single(f float32) Value {
	return Value{kind: KindFloat, bits: math.Float64bits(float64(f)), note: noteSingle}
}

// shortest returns a float as the Double with the shortest decimal form of its type: 0.1 for the Single 0.1, although
// the nearest Double is 0.10000000149011612.
func (v Value) shortest() float64 {
	f := v.float()
	if v.note == noteSingle && !math.IsNaN(f) && !math.IsInf(f, 0) {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64) // never fails: it is a number
	}
	return f
}

// Text returns a text.
func Text(s string) Value { return Value{kind: KindText, text: s} }

// Object returns a reference to the object at a, or null if a is 0.
func Object(a target.Addr) Value {
	if a == 0 {
		return null
	}
	return Value{kind: KindObject, bits: uint64(a)}
}

// Failed returns a missing value. err is one of the three errors of package target.
func Failed(err error) Value { return Value{kind: KindError, err: err} }

// textOr returns a text or, if err is not nil, a missing value.
func textOr(s string, err error) Value {
	if err != nil {
		return Failed(err)
	}
	return Text(s)
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// Err returns why a KindError is missing, or nil for other kinds.
func (v Value) Err() error {
	if v.kind != KindError {
		return nil
	}
	if v.err == nil {
		return errNoValue
	}
	return v.err
}

// Plain returns the value as text for tables: numbers in decimal, objects and addresses in hexadecimal. It reports
// false for null, errors, structs, types and lists.
func (v Value) Plain() (string, bool) {
	switch v.kind {
	case KindBool:
		return strconv.FormatBool(v.bits != 0), true
	case KindInt:
		if v.note == noteGeneration {
			return generationName(v.bits), true
		}
		return strconv.FormatInt(int64(v.bits), 10), true
	case KindFloat:
		return strconv.FormatFloat(v.shortest(), 'g', -1, 64), true
	case KindDecimal:
		return v.decimalText(), true
	case KindText:
		return v.text, true
	case KindChar:
		return v.plainText(), true
	case KindObject:
		return "0x" + strconv.FormatUint(v.bits, 16), true
	case KindUint:
		if v.hex {
			return "0x" + strconv.FormatUint(v.bits, 16), true
		}
		return strconv.FormatUint(v.bits, 10), true
	}
	return "", false
}

// Addr returns the address of an object or struct, or an integer as an address.
func (v Value) Addr() target.Addr { return target.Addr(v.bits) }

var errNoValue = target.Unsupportedf("there is no value")

func (v Value) isInteger() bool { return v.kind == KindInt || v.kind == KindUint || v.kind == KindChar }

func (v Value) isNumber() bool { return v.isInteger() || v.kind == KindFloat || v.kind == KindDecimal }

// float returns a number as a float64.
func (v Value) float() float64 {
	switch v.kind {
	case KindInt:
		return float64(int64(v.bits))
	case KindFloat:
		return math.Float64frombits(v.bits)
	case KindDecimal:
		return v.decimalFloat()
	}
	return float64(v.bits)
}
