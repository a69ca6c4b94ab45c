package query

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/objects"
)

// cast compiles (T)x and x as T.
func (s *scope) cast(n *node, of code) (code, error) {
	types, err := s.e.mustFind(n.typ)
	if err != nil {
		return code{}, err
	}
	set, err := s.e.newTypeSet(types, false)
	if err != nil {
		return code{}, err
	}
	title, soft := n.typ.String(), n.op == opAs
	return valueCode(func(f *frame) Value {
		v := of.eval(f)
		if v.kind == KindError || v.kind == KindNull {
			return v
		}
		return f.cast(v, set, title, soft)
	})
}

// cast returns v as one of the types. If v is of another type, it returns null if soft is set, and an error otherwise.
func (f *frame) cast(v Value, set *typeSet, title string, soft bool) Value {
	if v.kind == KindUint || v.kind == KindInt && v.bits >= leastObject && !isNumeric(set.list[0]) { // an address
		o, err := f.proven(v.Addr())
		if err != nil {
			return Failed(err)
		}
		v = Value{kind: KindObject, bits: uint64(o.Addr), typ: o.Type}
	}
	if v.kind != KindObject && v.kind != KindStruct {
		return f.convert(v, set.list[0], title)
	}
	t, err := f.typeOf(v)
	if err != nil {
		return Failed(err)
	}
	ok, err := set.has(t)
	switch {
	case ok:
		v.typ, v.as = t, nil
		if len(set.list) == 1 && v.kind == KindObject && t != set.list[0] {
			v.as = set.list[0]
		}
		return v
	case err != nil:
		return Failed(err)
	case soft:
		return null
	}
	if t.MT.IsValueType() && isNumeric(set.list[0]) {
		return f.convert(f.plain(v), set.list[0], title)
	}
	return Failed(noAnswer("%s is no %s", f.describeKind(Value{kind: v.kind, typ: t}), title))
}

// isNumeric reports whether a type is primitive or an enum.
func isNumeric(t *objects.Type) bool {
	et, err := t.ElementType()
	_, ok := primitiveForms[et]
	return err == nil && ok && t.MT.IsValueType()
}

// convert converts a number to another type. It cuts bits as C#'s unchecked conversions do.
func (f *frame) convert(v Value, t *objects.Type, title string) Value {
	name, err := t.Name()
	if err != nil {
		return Failed(err)
	}
	if name == "System.Decimal" && v.isNumber() && v.kind != KindFloat {
		return ofRat(v.rat())
	}
	et, err := t.ElementType()
	if err != nil {
		return Failed(err)
	}
	a, ok := primitiveForms[et]
	if !ok || !v.isNumber() {
		return f.kindError("the cast to "+title, v)
	}
	if t.IsEnum() {
		a.typ = t
	}
	switch a.form {
	case formFloat32:
		return single(float32(v.float()))
	case formFloat64:
		return Float(v.float())
	}
	n := v.bits
	switch v.kind {
	case KindFloat:
		n = uint64(int64(v.float()))
	case KindDecimal:
		n = uint64(int64(v.decimalFloat()))
	}
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return a.decode(b[:a.size])
}

// is compiles x is T.
func (s *scope) is(n *node, of code) (code, error) {
	types, err := s.e.mustFind(n.typ)
	if err != nil {
		return code{}, err
	}
	set, err := s.e.newTypeSet(types, false)
	if err != nil {
		return code{}, err
	}
	if n.args[0].op == opThis && s.typ != nil {
		ok, err := set.has(s.typ)
		if err != nil {
			return constantCode(Failed(err)), nil
		}
		return constantCode(Bool(ok)), nil
	}
	var last *objects.Type // the last checked type
	var was bool
	return testCode(func(f *frame) truth {
		v := of.eval(f)
		if v.kind == KindUint && v.hex {
			o, err := f.proven(v.Addr())
			if err != nil {
				f.err = err
				return undecided
			}
			v = Value{kind: KindObject, bits: uint64(o.Addr), typ: o.Type}
		}
		switch v.kind {
		case KindError:
			f.err = v.Err()
			return undecided
		case KindObject, KindStruct:
		default:
			return truthOf(v.typ != nil && set.types[v.typ])
		}
		t, err := f.typeOf(v)
		if err == nil && t != last {
			was, err = set.has(t)
			last = t
		}
		if err != nil {
			f.err, last = err, nil
			return undecided
		}
		return truthOf(was)
	})
}

// matchCode compiles x matches /re/. It caches the result for a text that repeats in many rows, such as a type's name.
func matchCode(n *node, of code) (code, error) {
	re := n.re
	var last string
	var was, any bool
	return testCode(func(f *frame) truth {
		v := f.plain(of.eval(f))
		if v.kind == KindNull {
			return no
		}
		s, ok, err := f.textOf(v)
		switch {
		case v.kind == KindError:
			f.err = v.Err()
			return undecided
		case !ok && err == nil:
			s, err = f.format(v)
		}
		if err != nil {
			f.err = err
			return undecided
		}
		if !any || s != last {
			last, was, any = s, re.MatchString(matchable(s)), true
		}
		return truthOf(was)
	})
}

// matchable returns s for a regular expression. It replaces lone surrogates, each by another private-use character.
func matchable(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range utf16text.Runes(s) {
		if utf16.IsSurrogate(r) {
			r += surrogateArea
		}
		b.WriteRune(r)
	}
	return b.String()
}

// surrogateArea moves a surrogate to private-use characters of plane 16 (U+10D800 to U+10DFFF).
const surrogateArea = 0x100000

// index compiles x[i, …].
func (s *scope) index(n *node) (code, error) {
	args, err := s.compileAll(n.args)
	if err != nil {
		return code{}, err
	}
	nullable := n.maybe || s.e.inQuery
	return valueCode(func(f *frame) Value {
		v := args[0].eval(f)
		if v.kind == KindUint && v.hex {
			v = f.proveObject(v)
		}
		switch {
		case v.kind == KindError:
			return v
		case v.kind == KindNull && nullable:
			return null
		case v.kind == KindNull:
			return Failed(nullError{"[]"})
		}
		keys := make([]Value, len(args)-1)
		for i, a := range args[1:] {
			if keys[i] = f.plain(a.eval(f)); keys[i].kind == KindError {
				return keys[i]
			}
		}
		return f.below(v, f.index(v, keys))
	})
}

func (f *frame) proveObject(v Value) Value {
	o, err := f.proven(v.Addr())
	if err != nil {
		return Failed(err)
	}
	return Value{kind: KindObject, bits: uint64(o.Addr), typ: o.Type}
}

// index returns an element of an array, a string, a list or another collection.
func (f *frame) index(v Value, keys []Value) Value {
	if v.kind == KindList {
		return f.indexList(v, keys[0])
	}
	if v.kind == KindText || f.isString(v) {
		return f.indexText(v, keys[0])
	}
	if v.kind == KindStruct {
		return f.indexCollection(v, keys)
	}
	if v.kind != KindObject {
		return f.kindError("an index", v)
	}
	o, err := f.object(v)
	if err != nil {
		return Failed(err)
	}
	if o.Type.MT.IsArray() {
		return f.indexArray(o, keys)
	}
	return f.indexCollection(v, keys)
}

func (f *frame) indexArray(o objects.Object, keys []Value) Value {
	if err := f.checkElements(o); err != nil {
		return Failed(err)
	}
	a, err := o.Array()
	if err != nil {
		return Failed(err)
	}
	if len(keys) != a.Rank {
		return Failed(noAnswer("the array has %d dimensions, and not %d", a.Rank, len(keys)))
	}
	at := uint64(0)
	for d, k := range keys {
		n := int64(k.bits) - int64(a.LowerBounds[d])
		if !k.isInteger() || n < 0 || n >= int64(uint32(a.Lengths[d])) {
			return Failed(noAnswer("the array has no element [%s]: its length is %d", f.short(k), uint32(a.Lengths[d])))
		}
		at = at*uint64(uint32(a.Lengths[d])) + uint64(n)
	}
	v := a.At(uint32(at))
	return f.secretIf(f.e.mask != nil && at > 0 && a.Announces(uint32(at-1), v), f.fromValue(v))
}

func (f *frame) short(v Value) string {
	c := f.cell(v)
	return cut(c.Plain())
}

func (f *frame) indexText(v, key Value) Value {
	s, _, err := f.textOf(v)
	if err != nil {
		return Failed(err)
	}
	units := utf16text.Units(s)
	if key.isInteger() && key.bits < uint64(len(units)) {
		return Value{kind: KindChar, bits: uint64(units[key.bits])}
	}
	return Failed(noAnswer("the string has no character [%s]: its length is %d", f.short(key), len(units)))
}

func (f *frame) indexList(v, key Value) Value {
	if !key.isInteger() {
		return f.kindError("an index", key)
	}
	at := uint64(0)
	for item := range v.list.all {
		if at == key.bits {
			return item
		}
		at++
	}
	return Failed(noAnswer("there is no [%s]: there are %d", f.short(key), at))
}
