package objects

import (
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
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
func (v Value) Inline(limit int) string { return v.Line(limit).String() }

// Line is Inline in pieces, for who wants to cut the strings in it again.
func (v Value) Line(limit int) answer.Line { return v.inline(limit, 0) }

func (v Value) inline(limit, depth int) answer.Line {
	switch v.Kind() {
	case KindBool:
		return answer.Words(strconv.FormatBool(v.bits != 0))
	case KindChar:
		return answer.Words(quoteChar(uint16(v.bits)))
	case KindInt, KindUint:
		return v.enum()
	case KindReference:
		if v.bits == 0 {
			return nil
		}
		o, err := v.Object()
		if err != nil {
			return answer.Missing(err)
		}
		return o.inline(limit, depth, v)
	case KindStruct:
		s, err := v.Struct()
		if err != nil {
			return answer.Missing(err)
		}
		return s.inline(limit, depth)
	}
	return nil
}

// Plain is Inline, or the number or address where Inline is empty; of a value
// that could not be read it is the reason in angle brackets.
func (v Value) Plain(limit int) string { return v.plain(limit, 0).String() }

// plain is inline for places where a number has to stand for itself.
func (v Value) plain(limit, depth int) answer.Line {
	return v.appendPlain(nil, limit, depth)
}

// appendPlain appends what plain returns.
func (v Value) appendPlain(l answer.Line, limit, depth int) answer.Line {
	if v.err != nil {
		return append(l, answer.Lacking(v.err)...)
	}
	own := v.inline(limit, depth)
	if own.Blank() {
		l = append(l, answer.LinePiece{Text: v.answer().Plain()})
	}
	return append(l, own...)
}

// Answer is the value as answers have it, without its text.
func (v Value) Answer() answer.Value { return v.answer() }

func (v Value) answer() answer.Value {
	return answer.Value{Kind: v.Kind(), Size: v.Size(), Bits: v.bits, At: v.at}
}

// enum is the name of an enum's value, empty for a plain number.
func (v Value) enum() answer.Line {
	if v.field != nil {
		// A plain integer has its own byte in the signature, so that no type has
		// to be looked up for it.
		if sig := v.field.Signature(); sig == nil || sig.Kind == v.elem {
			return nil
		}
	}
	t, err := v.Type()
	if err != nil || t == nil {
		return lacking(err)
	}
	if !t.IsEnum() {
		return nil
	}
	e, err := t.Enum()
	if err != nil {
		return answer.Missing(err)
	}
	return answer.Words(e.Format(v.bits))
}

// lacking is a Line of nothing: for the reason given, if there is one.
func lacking(err error) answer.Line {
	if err == nil {
		return nil
	}
	return answer.Missing(err)
}

// Inline is the object on one line: the text of a string, a boxed value, the
// type and lengths of an array, the type of other objects and, of a collection,
// how many elements it has.
func (o Object) Inline(limit int) string { return o.inline(limit, 0, Value{}).String() }

func (o Object) inline(limit, depth int, from Value) answer.Line {
	switch {
	case o.Type == nil:
		return nil
	case o.IsString():
		return o.quoted(limit)
	case o.IsBoxed():
		name, err := o.Type.ManagedName()
		if err != nil {
			return answer.Missing(err)
		}
		return append(answer.Words("("+name+") "), o.boxed().plain(limit, depth)...)
	case o.Type.MT.IsArray():
		text, err := o.arrayText()
		return append(answer.Words(text), lacking(err)...)
	}
	if depth > 0 {
		return nil
	}
	// A type that the field does not already tell.
	var untold error
	if from.field != nil {
		th, err := from.field.TypeHandle()
		if err == nil && th == o.Type.MT.Addr {
			return answer.Words(o.counted())
		}
		untold = err
	}
	name, err := o.Type.ManagedName()
	if err != nil {
		return answer.Missing(err)
	}
	if n := o.counted(); n != "" {
		name += " " + n
	}
	return append(answer.Words(name), lacking(untold)...)
}

// counted is how many elements a collection has, "(3)", or why that is not known; empty for other objects.
func (o Object) counted() string {
	if o.Type.r.count == nil {
		return ""
	}
	n, ok, err := o.Type.r.count(o)
	switch {
	case err != nil:
		return "(" + answer.Absent(err) + ")"
	case !ok:
		return ""
	}
	return "(" + strconv.FormatUint(n, 10) + ")"
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

// quoted is the text of a string, up to a hole in the dump.
func (o Object) quoted(limit int) answer.Line {
	n, err := o.Length()
	if err != nil {
		return answer.Missing(err)
	}
	s, err := o.Text(limit)
	if err != nil && s == "" {
		return answer.Missing(err)
	}
	return append(answer.Quoted(s, n), lacking(err)...)
}

func quoteChar(c uint16) string {
	if c >= 0xd800 && c < 0xe000 {
		return `'\u` + strconv.FormatUint(uint64(c), 16) + "'"
	}
	return strconv.QuoteRune(rune(c))
}

// arrayText is the type of an array with its lengths, as a program would make
// it: System.Int32[3][].
func (o Object) arrayText() (string, error) {
	a, err := o.Array()
	if err != nil {
		return "", err
	}
	name, err := o.Type.ManagedName()
	if err != nil {
		return "", err
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
	return b.String(), nil
}

// Inline is the struct on one line.
func (s Struct) Inline(limit int) string { return s.inline(limit, 0).String() }

func (s Struct) inline(limit, depth int) answer.Line {
	if depth > inlineDepth || s.Type == nil {
		return nil
	}
	name, err := s.Type.Name()
	if err != nil {
		return answer.Missing(err)
	}
	if i := strings.IndexByte(name, '['); i > 0 {
		name = name[:i]
	}
	if name == "System.Nullable`1" {
		if l := s.nullable(limit, depth); len(l) > 0 {
			return l
		}
	}
	if text, ok := s.known(name); ok {
		return answer.Words(text)
	}
	n, err := s.Type.InlineLength()
	if err == nil && n > 0 {
		return s.row(limit, depth)
	}
	return append(s.braces(limit, depth), lacking(err)...)
}

// row lists the elements of an inline array: {1, 2, 3}.
func (s Struct) row(limit, depth int) answer.Line {
	l := answer.Words("{")
	for i, v := range s.Elements() {
		if i == inlineFields {
			l = append(l, answer.Words(", …")...)
			break
		}
		if i > 0 {
			l = append(l, answer.Words(", ")...)
		}
		l = append(l, v.plain(limit, depth+1)...)
	}
	return append(l, answer.Words("}")...)
}

// braces lists the fields: {X=1, Y=2}.
func (s Struct) braces(limit, depth int) answer.Line {
	labels, err := s.Type.bracedLabels()
	if len(labels) == 0 {
		return lacking(err)
	}
	l := make(answer.Line, 0, 2*len(labels)+1)
	n := 0
	for f, v := range s.Fields() {
		if n == inlineFields {
			l = append(l, answer.LinePiece{Text: ", …"})
			break
		}
		l = append(l, answer.LinePiece{Text: labels[n]})
		l = append(l, lacking(f.Err())...)
		l = v.appendPlain(l, limit, depth+1)
		n++
	}
	return append(append(l, answer.LinePiece{Text: "}"}), lacking(err)...)
}

// bracedLabels are what stands before the values of the first instance fields in braces: "{X=", ", Y=".
func (t *Type) bracedLabels() ([]string, error) {
	return t.labels.Get(func() ([]string, error) {
		fields, err := t.Fields()
		var out []string
		for _, f := range fields {
			if f.Static || len(out) == inlineFields {
				continue
			}
			lead := ", "
			if out == nil {
				lead = "{"
			}
			out = append(out, lead+FieldLabel(f.Name)+"=")
		}
		return out, err
	})
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
