package objects

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// Limits of a one-line value.
const (
	inlineDepth  = 3  // structs inside structs
	inlineFields = 16 // of one struct
)

// Inline is the value on one line, as a person wants to read it: a quoted and
// escaped string of at most limit UTF-16 code units, the name of an enum's
// value, the date of a DateTime, the fields of a struct in braces. It is empty
// where the value says no more than its number or address does.
func (v Value) Inline(limit int) string { return v.inline(limit, 0) }

func (v Value) inline(limit, depth int) string {
	switch v.Kind() {
	case KindBool:
		return strconv.FormatBool(v.bits != 0)
	case KindChar:
		return quoteChar(uint16(v.bits))
	case KindInt, KindUint:
		return v.enumText()
	case KindReference:
		if v.bits == 0 {
			return ""
		}
		o, err := v.Object()
		if err != nil {
			return ""
		}
		return o.inline(limit, depth, v)
	case KindStruct:
		s, err := v.Struct()
		if err != nil {
			return ""
		}
		return s.inline(limit, depth)
	}
	return ""
}

// Plain is Inline, or the number or address where Inline is empty; of a value
// that could not be read it is the reason in angle brackets.
func (v Value) Plain(limit int) string { return v.plain(limit, 0) }

// plain is inline for places where a number has to stand for itself.
func (v Value) plain(limit, depth int) string {
	if v.err != nil {
		return "<" + reason(v.err) + ">"
	}
	if s := v.inline(limit, depth); s != "" {
		return s
	}
	switch v.kind() {
	case KindInt:
		n, _ := v.Int()
		return strconv.FormatInt(n, 10)
	case KindUint:
		return strconv.FormatUint(v.bits, 10)
	case KindFloat:
		return v.FormatFloat()
	case KindReference:
		if v.bits == 0 {
			return "null"
		}
		return target.Addr(v.bits).String()
	case KindStruct:
		return "{…}"
	}
	return "0x" + strconv.FormatUint(v.bits, 16)
}

// reason is why a value is unknown, in few words.
func reason(err error) string {
	if errors.Is(err, target.ErrNotInDump) {
		return target.ErrNotInDump.Error()
	}
	return "unreadable"
}

// FormatFloat is a floating-point number in the shortest form that reads back
// the same.
func (v Value) FormatFloat() string {
	f, err := v.Float()
	if err != nil {
		return ""
	}
	bits := 64
	if v.elem == metadata.ElementR4 {
		bits = 32
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// enumText is the name of an enum's value, empty for a plain number.
func (v Value) enumText() string {
	if v.field != nil {
		// A plain integer has its own byte in the signature, so that no type has
		// to be looked up for it.
		if sig := v.field.Signature(); sig == nil || sig.Kind == v.elem {
			return ""
		}
	}
	t, err := v.Type()
	if err != nil || t == nil {
		return ""
	}
	e, err := t.Enum()
	if err != nil {
		return ""
	}
	return e.Format(v.bits)
}

// Inline is the object on one line: the text of a string, a boxed value, the
// type and lengths of an array; empty for other objects.
func (o Object) Inline(limit int) string { return o.inline(limit, 0, Value{}) }

func (o Object) inline(limit, depth int, from Value) string {
	switch {
	case o.Type == nil:
		return ""
	case o.IsString():
		return o.quoted(limit)
	case o.IsBoxed():
		name, err := o.Type.ManagedName()
		if err != nil {
			return ""
		}
		return "(" + name + ") " + o.boxed().plain(limit, depth)
	case o.Type.MT.IsArray():
		return o.arrayText()
	}
	// A type that the field does not already tell.
	if from.field != nil {
		if th, err := from.field.TypeHandle(); err == nil && th == o.Type.MT.Addr {
			return ""
		}
	}
	name, err := o.Type.ManagedName()
	if err != nil || depth > 0 {
		return ""
	}
	return name
}

// boxed is the value in a box, with its type.
func (o Object) boxed() Value {
	et, err := o.Type.ElementType()
	if err != nil {
		return Value{r: o.Type.r, err: err}
	}
	return o.Type.r.value(et, o.data(), nil, o.Type)
}

// Boxed returns the value in a box.
func (o Object) Boxed() Value {
	if !o.IsBoxed() {
		return Value{err: target.Unsupportedf("object %016x is no boxed value", uint64(o.Addr))}
	}
	return o.boxed()
}

func (o Object) quoted(limit int) string {
	n, err := o.Length()
	if err != nil {
		return ""
	}
	s, err := o.Text(limit)
	if err != nil {
		return ""
	}
	q := Quote(s)
	if limit >= 0 && uint64(n) > uint64(limit) {
		q += "… (" + strconv.FormatUint(uint64(n), 10) + " characters)"
	}
	return q
}

// Quote is s in double quotes, with control characters, invisible ones and
// quotes escaped.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' || r == '\\' {
			b.WriteByte('\\')
			b.WriteRune(r)
			continue
		}
		if r == utf8.RuneError {
			b.WriteRune(r)
			continue
		}
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	b.WriteByte('"')
	return b.String()
}

func quoteChar(c uint16) string {
	if c >= 0xd800 && c < 0xe000 {
		return `'\u` + strconv.FormatUint(uint64(c), 16) + "'"
	}
	return strconv.QuoteRune(rune(c))
}

// arrayText is the type of an array with its lengths, as a program would make
// it: System.Int32[3][].
func (o Object) arrayText() string {
	a, err := o.Array()
	if err != nil {
		return ""
	}
	name, err := o.Type.ManagedName()
	if err != nil {
		return ""
	}
	var b strings.Builder
	// The outermost brackets stand last in the type's name.
	elem := strings.TrimSuffix(name, "<*>")
	if i := strings.LastIndexByte(elem, '['); i >= 0 && elem == name {
		elem = elem[:i]
	}
	base := strings.TrimRight(elem, "[],")
	b.WriteString(base)
	b.WriteByte('[')
	for d, n := range a.Lengths {
		if d > 0 {
			b.WriteString(", ")
		}
		if low := int64(a.LowerBounds[d]); low != 0 {
			b.WriteString(strconv.FormatInt(low, 10) + ".." + strconv.FormatInt(low+int64(n)-1, 10))
			continue
		}
		b.WriteString(strconv.Itoa(int(n)))
	}
	b.WriteByte(']')
	b.WriteString(elem[len(base):])
	return b.String()
}

// Inline is the struct on one line.
func (s Struct) Inline(limit int) string { return s.inline(limit, 0) }

func (s Struct) inline(limit, depth int) string {
	if depth > inlineDepth || s.Type == nil {
		return ""
	}
	name, err := s.Type.Name()
	if err != nil {
		return ""
	}
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	if text, ok := s.known(name, limit, depth); ok {
		return text
	}
	return s.braces(limit, depth)
}

// braces lists the fields: {X=1, Y=2}.
func (s Struct) braces(limit, depth int) string {
	var b strings.Builder
	b.WriteByte('{')
	n := 0
	for f, v := range s.Fields() {
		if n == inlineFields {
			b.WriteString(", …")
			break
		}
		if n > 0 {
			b.WriteString(", ")
		}
		n++
		b.WriteString(FieldLabel(f.Name))
		b.WriteByte('=')
		b.WriteString(v.plain(limit, depth+1))
	}
	if n == 0 {
		return ""
	}
	b.WriteByte('}')
	return b.String()
}

// FieldLabel is the name of a field as the source has it: the property's for
// the field behind an automatic property.
func FieldLabel(name string) string {
	if strings.HasPrefix(name, "<") {
		if p, ok := strings.CutSuffix(name[1:], ">k__BackingField"); ok {
			return p
		}
		if p, ok := strings.CutSuffix(name[1:], ">i__Field"); ok { // of an anonymous type
			return p
		}
	}
	return name
}
