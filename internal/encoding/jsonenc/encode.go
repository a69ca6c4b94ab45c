package jsonenc

import (
	"cmp"
	"context"
	"encoding"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
)

// piece is the number of bytes that an Encoder buffers before it calls Emit.
const piece = 64 << 10

// maxDepth bounds the nesting of values.
const maxDepth = 10000

// An Encoder appends values to a buffer. It is for one goroutine.
type Encoder struct {
	Buf []byte // the output so far
	// Emit, if not nil, receives Buf inside of long values; Buf is then emptied. The bytes are
	// valid during the call.
	Emit func(b []byte) error
	// Err is the first error. A value that can't be encoded becomes null.
	Err error

	depth int
}

// Marshal returns v as JSON. A missing row of an iterator becomes {"missing": reason}, the failure of the list
// {"error": reason} at its end.
func Marshal(v any) ([]byte, error) {
	var e Encoder
	e.Value(v)
	return e.Buf, e.Err
}

// Row returns a function that appends a T as JSON and the separator of rows, a comma and a line
// feed. The function is for one goroutine.
func Row[T any]() func(b []byte, row *T) []byte {
	p, e := PlanOf(reflect.TypeFor[T]()), &Encoder{}
	return func(b []byte, row *T) []byte {
		e.Buf = b
		e.encode(p, reflect.ValueOf(row).Elem())
		b, e.Buf = e.Buf, nil
		return append(b, ',', '\n')
	}
}

// encoders are for AppendList, which is called for every value of some types.
var encoders = sync.Pool{New: func() any { return new(Encoder) }}

// AppendList appends a list as JSON, for an Appender.
func AppendList[T any](b []byte, list []T) []byte {
	p, e := PlanOf(reflect.TypeFor[T]()), encoders.Get().(*Encoder)
	e.Buf = append(b, '[')
	for i := range list {
		if i > 0 {
			e.Buf = append(e.Buf, ',')
		}
		e.encode(p, reflect.ValueOf(&list[i]).Elem())
	}
	b = append(e.Buf, ']')
	*e = Encoder{}
	encoders.Put(e)
	return b
}

// Value appends v.
func (e *Encoder) Value(v any) {
	switch v := v.(type) {
	case nil:
		e.Buf = append(e.Buf, "null"...)
	case string:
		e.Buf = AppendString(e.Buf, v)
	case bool:
		e.Buf = strconv.AppendBool(e.Buf, v)
	case int:
		e.Buf = strconv.AppendInt(e.Buf, int64(v), 10)
	case uint64:
		e.Buf = strconv.AppendUint(e.Buf, v, 10)
	default:
		e.Reflect(reflect.ValueOf(v))
	}
}

// Reflect appends v. It also uses the methods of v's pointer type.
func (e *Encoder) Reflect(v reflect.Value) {
	if v.Kind() != reflect.Pointer && !v.CanAddr() {
		p := reflect.New(v.Type()).Elem()
		p.Set(v)
		v = p
	}
	e.encode(PlanOf(v.Type()), v)
}

// fail records an error and appends null.
func (e *Encoder) fail(err error) {
	e.Err = cmp.Or(e.Err, err)
	e.Buf = append(e.Buf, "null"...)
}

// flush passes Buf to Emit if it is long. It is called between list items.
func (e *Encoder) flush() {
	if e.Emit == nil || len(e.Buf) < piece {
		return
	}
	if err := e.Emit(e.Buf); err != nil && e.Err == nil {
		e.Err = err
	}
	e.Buf = e.Buf[:0]
}

// encode appends v according to its plan. v must be a pointer or addressable.
func (e *Encoder) encode(p *Plan, v reflect.Value) {
	switch p.code {
	case codeUint:
		e.Buf = strconv.AppendUint(e.Buf, v.Uint(), 10)
	case codeHex:
		e.Buf = appendHex(e.Buf, v.Uint())
	case codeInt:
		e.Buf = strconv.AppendInt(e.Buf, v.Int(), 10)
	case codeNumber:
		e.Buf = append(e.Buf, cmp.Or(v.String(), "0")...)
	case codeString:
		e.Buf = AppendString(e.Buf, v.String())
	case codeBool:
		e.Buf = strconv.AppendBool(e.Buf, v.Bool())
	case codeStruct:
		e.object(p, v)
	case codeAbsent:
		if v.FieldByIndex(p.state).IsZero() != p.known {
			e.encode(p.elem, v.FieldByIndex(p.value))
			return
		}
		e.Buf = append(e.Buf, "null"...)
	case codeAppender:
		e.Buf = v.Addr().Interface().(Appender).AppendJSON(e.Buf)
	case codeValuer:
		e.nested(func() { e.Value(v.Addr().Interface().(Valuer).JSONValue()) })
	case codePointer:
		if v.IsNil() {
			e.Buf = append(e.Buf, "null"...)
			return
		}
		e.nested(func() { e.encode(p.elem, v.Elem()) })
	case codeSlice, codeArray:
		e.list(p, v)
	case codeFloat:
		e.float(v.Float(), v.Type().Bits())
	default:
		e.encodeRare(p, v)
	}
}

// encodeRare appends values of the rarer codes.
func (e *Encoder) encodeRare(p *Plan, v reflect.Value) {
	switch p.code {
	case codeInterface:
		if v.IsNil() {
			e.Buf = append(e.Buf, "null"...)
			return
		}
		e.nested(func() { e.Value(v.Elem().Interface()) })
	case codeMarshalText:
		text, err := v.Addr().Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			e.fail(err)
			return
		}
		e.Buf = AppendString(e.Buf, string(text))
	case codeMarshalJSON:
		e.marshaled(v.Addr().Interface().(interface{ MarshalJSON() ([]byte, error) }).MarshalJSON())
	case codeText:
		e.text(v.Addr().Interface().(TextStreamer))
	case codeIterator:
		e.iterate(p, v)
	case codeBytes:
		if v.IsNil() {
			e.Buf = append(e.Buf, "null"...)
			return
		}
		e.Buf = append(base64.StdEncoding.AppendEncode(append(e.Buf, '"'), v.Bytes()), '"')
	case codeMap:
		e.dictionary(p, v)
	default:
		e.fail(fmt.Errorf("JSON has no form for the type %v", p.Type))
	}
}

// nested runs encode one level deeper.
func (e *Encoder) nested(encode func()) {
	if e.depth >= maxDepth {
		e.fail(errors.New("a value is nested too deep for JSON"))
		return
	}
	e.depth++
	encode()
	e.depth--
}

// marshaled appends JSON that a type's own method returned.
func (e *Encoder) marshaled(b []byte, err error) {
	if err != nil {
		e.fail(err)
		return
	}
	e.Buf = appendSafe(e.Buf, b)
}

// appendSafe appends JSON and escapes the characters that AppendString escapes. They occur only in
// strings.
func appendSafe(b, text []byte) []byte {
	for _, r := range string(text) {
		if r == 0x7f || Hidden(r) {
			b = appendEscape(b, r)
			continue
		}
		b = append(b, string(r)...)
	}
	return b
}

// object appends a struct. It encodes plain numbers itself, because long lists consist mostly of
// them.
func (e *Encoder) object(p *Plan, v reflect.Value) {
	b, empty := append(e.Buf, '{'), true
	for i := range p.fields {
		f := &p.fields[i]
		var fv reflect.Value
		if f.direct {
			fv = v.Field(f.first)
		} else if v, ok := f.at(v); ok {
			fv = v
		} else {
			continue
		}
		var n uint64
		switch f.code {
		case codeHex, codeUint:
			n = fv.Uint()
			if n == 0 && f.omit != omitNever {
				continue
			}
		case codeBool:
			if !fv.Bool() && f.omit != omitNever {
				continue
			}
		default:
			if f.omit != omitNever && f.omitted(fv) {
				continue
			}
		}
		prefix := f.prefix
		if empty {
			prefix, empty = prefix[1:], false
		}
		b = append(b, prefix...)
		switch f.code {
		case codeHex:
			b = appendDigits(b, n)
		case codeUint:
			b = strconv.AppendUint(b, n, 10)
		default:
			e.Buf = b
			e.encode(f.Plan, fv)
			b = e.Buf
		}
	}
	e.Buf = append(b, '}')
}

// get returns the field of v, or false if it is omitted.
func (f *Field) get(v reflect.Value) (reflect.Value, bool) {
	v, ok := f.at(v)
	return v, ok && !f.omitted(v)
}

// at returns the field of v, or false if a pointer on the way to it is nil.
func (f *Field) at(v reflect.Value) (reflect.Value, bool) {
	for _, i := range f.index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

func (f *Field) omitted(v reflect.Value) bool {
	switch f.omit {
	case omitNever:
		return false
	case omitLength:
		return v.Len() == 0
	case omitNil:
		return v.IsNil()
	case omitIsZero:
		return v.Addr().Interface().(isZeroer).IsZero()
	}
	return v.IsZero()
}

// Each calls yield with the fields of an object that are not omitted, in order, up to the first
// error. v is of the plan's type and addressable.
func (p *Plan) Each(v reflect.Value, yield func(f *Field, v reflect.Value) error) error {
	for i := range p.fields {
		f := &p.fields[i]
		fv, ok := f.get(v)
		if !ok {
			continue
		}
		if err := yield(f, fv); err != nil {
			return err
		}
	}
	return nil
}

// Every calls yield with all fields of an object, in their order, and whether JSON leaves them out. v is as for Each.
func (p *Plan) Every(v reflect.Value, yield func(f *Field, v reflect.Value, omitted bool)) {
	for i := range p.fields {
		if fv, ok := p.fields[i].at(v); ok {
			yield(&p.fields[i], fv, p.fields[i].omitted(fv))
		}
	}
}

func (e *Encoder) list(p *Plan, v reflect.Value) {
	if p.code == codeSlice && v.IsNil() {
		e.Buf = append(e.Buf, "null"...)
		return
	}
	e.nested(func() {
		e.Buf = append(e.Buf, '[')
		for i := range v.Len() {
			if i > 0 {
				e.Buf = append(e.Buf, ',')
			}
			e.encode(p.elem, v.Index(i))
			e.flush()
		}
		e.Buf = append(e.Buf, ']')
	})
}

// problem appends an object with the reason why a row is missing, or why the list ends.
func (e *Encoder) problem(err error) {
	key := `{"missing":`
	if Ends(err) {
		key = `{"error":`
	}
	e.Buf = append(AppendString(append(e.Buf, key...), err.Error()), '}')
}

// iterate appends the rows of an iterator. A missing row becomes an object with the reason, and so does the failure of
// the list.
func (e *Encoder) iterate(p *Plan, v reflect.Value) {
	if v.IsNil() {
		e.Buf = append(e.Buf, "[]"...)
		return
	}
	e.Buf = append(e.Buf, '[')
	first := true
	p.Range(v, func(row reflect.Value, err error) bool {
		if IsStop(err) {
			e.Err = errors.Join(e.Err, err)
			return false
		}
		if !first {
			e.Buf = append(e.Buf, ',')
		}
		first = false
		if err != nil {
			e.problem(err)
			return true
		}
		e.nested(func() { e.encode(p.elem, row) })
		e.flush()
		return e.Err == nil
	})
	e.Buf = append(e.Buf, ']')
}

// Range iterates over the rows of an iterator of the plan's type. A row is valid during the call.
func (p *Plan) Range(v reflect.Value, yield func(row reflect.Value, err error) bool) {
	if v.IsNil() {
		return
	}
	row := reflect.New(p.elem.Type).Elem()
	for r, problem := range v.Seq2() {
		err, _ := problem.Interface().(error)
		row.Set(r)
		if !yield(row, err) {
			return
		}
	}
}

// Ends reports whether err, of the last row of a list, is what kept the list from being whole. It has a method EndsList.
func Ends(err error) bool {
	_, ok := err.(interface{ EndsList() })
	return ok
}

// IsStop reports whether err ends a list because it was cancelled.
func IsStop(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// text appends a long text piece by piece. An error ends the string.
func (e *Encoder) text(s TextStreamer) {
	e.Buf = append(e.Buf, '"')
	err := s.StreamText(func(part string) error {
		e.Buf = appendContent(e.Buf, part)
		e.flush()
		return e.Err
	})
	e.Err = cmp.Or(e.Err, err)
	e.Buf = append(e.Buf, '"')
}

// dictionary appends a map, sorted by its keys.
func (e *Encoder) dictionary(p *Plan, v reflect.Value) {
	if v.IsNil() {
		e.Buf = append(e.Buf, "null"...)
		return
	}
	keys := v.MapKeys()
	slices.SortStableFunc(keys, func(a, b reflect.Value) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	})
	value := reflect.New(p.elem.Type).Elem()
	e.nested(func() {
		e.Buf = append(e.Buf, '{')
		for i, k := range keys {
			if i > 0 {
				e.Buf = append(e.Buf, ',')
			}
			e.Buf = append(AppendString(e.Buf, k.String()), ':')
			value.Set(v.MapIndex(k))
			e.encode(p.elem, value)
		}
		e.Buf = append(e.Buf, '}')
	})
}

// float appends a number as encoding/json does.
func (e *Encoder) float(f float64, bits int) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		e.fail(fmt.Errorf("JSON has no form for the number %v", f))
		return
	}
	form := byte('f')
	if a := math.Abs(f); a != 0 {
		if bits == 64 && (a < 1e-6 || a >= 1e21) || bits == 32 && (float32(a) < 1e-6 || float32(a) >= 1e21) {
			form = 'e'
		}
	}
	e.Buf = strconv.AppendFloat(e.Buf, f, form, -1, bits)
	// e-09 to e-9.
	if n := len(e.Buf); form == 'e' && n >= 4 && e.Buf[n-4] == 'e' && e.Buf[n-3] == '-' && e.Buf[n-2] == '0' {
		e.Buf[n-2] = e.Buf[n-1]
		e.Buf = e.Buf[:n-1]
	}
}
