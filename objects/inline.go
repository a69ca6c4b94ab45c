package objects

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/secrets"
)

// Limits of a one-line value.
const (
	inlineDepth  = 3  // structs inside structs
	inlineFields = 16 // of one struct
)

// Inline returns a short line for the value: a quoted string of at most limit UTF-16 code units, the name of an enum's
// value, the date of a DateTime, or the fields of a struct in braces. It is empty for a plain number or address.
func (v Value) Inline(limit int) string { return v.Line(limit).String() }

// Line returns Inline in pieces, so that a caller can shorten its strings.
func (v Value) Line(limit int) answer.Line { return v.appendInline(nil, limit, 0) }

// appendInline appends the line of a value at a nesting depth.
func (v *Value) appendInline(l answer.Line, limit, depth int) answer.Line {
	switch v.Kind() {
	case KindBool:
		return appendWords(l, strconv.FormatBool(v.bits != 0))
	case KindChar:
		return appendWords(l, quoteChar(uint16(v.bits)))
	case KindInt, KindUint:
		return v.appendEnum(l)
	case KindReference:
		if v.bits == 0 {
			return l
		}
		o, err := v.Object()
		if err != nil {
			return appendMissing(l, err)
		}
		return o.appendInline(l, limit, depth, v.field)
	case KindStruct:
		s, err := v.Struct()
		if err != nil {
			return appendMissing(l, err)
		}
		return s.appendInline(l, limit, depth)
	}
	return l
}

// appendWords appends fixed text.
func appendWords(l answer.Line, s string) answer.Line {
	if s == "" {
		return l
	}
	return append(l, answer.LinePiece{Text: s})
}

// appendMissing appends an empty piece that carries err, if err is not nil.
func appendMissing(l answer.Line, err error) answer.Line {
	if err == nil {
		return l
	}
	return append(l, answer.LinePiece{Err: err})
}

// Plain returns Inline or, if that is empty, the number or address. For an unreadable value it returns the reason in
// angle brackets.
func (v Value) Plain(limit int) string { return v.appendPlain(nil, limit, 0).String() }

// appendPlain appends the line of a value, or its number if it has no line.
func (v *Value) appendPlain(l answer.Line, limit, depth int) answer.Line {
	if v.err != nil {
		return append(l, answer.LinePiece{Text: answer.Absent(v.err), Err: v.err})
	}
	from := len(l)
	if l = v.appendInline(l, limit, depth); l[from:].Blank() {
		l = append(l, answer.LinePiece{Number: v.answer()})
	}
	return l
}

// answer returns the value as in answers, without its text.
func (v Value) answer() answer.Value {
	return answer.Value{Kind: v.Kind(), Size: v.Size(), Bits: v.bits, At: v.at}
}

// appendEnum appends the name of an enum's value. It appends nothing for a plain number.
func (v *Value) appendEnum(l answer.Line) answer.Line {
	if v.field != nil {
		// If the signature is the element type, the field is a plain integer, and no type is needed.
		if sig := v.field.Signature(); sig == nil || sig.Kind == v.elem {
			return l
		}
	}
	t, err := v.Type()
	if err != nil || t == nil {
		return appendMissing(l, err)
	}
	if !t.IsEnum() {
		return l
	}
	e, err := t.Enum()
	if err != nil {
		return appendMissing(l, err)
	}
	return appendWords(l, e.Format(v.bits))
}

// Inline returns the object on one line: the text of a string, a boxed value, the type and lengths of an array, the
// type of another object. A collection also has its number of elements.
func (o Object) Inline(limit int) string { return o.Line(limit).String() }

// Line is Inline in pieces. A missing part is a piece with its error.
func (o Object) Line(limit int) answer.Line { return o.appendInline(nil, limit, 0, nil) }

// appendInline appends the line of an object. from is the field that refers to it, or nil.
func (o Object) appendInline(l answer.Line, limit, depth int, from *Field) answer.Line {
	switch {
	case o.Type == nil:
		return l
	case o.IsString():
		return o.appendQuoted(l, limit)
	case o.IsBoxed():
		name, err := o.Type.ManagedName()
		if err != nil {
			return appendMissing(l, err)
		}
		v := o.boxed()
		return v.appendPlain(appendWords(l, "("+name+") "), limit, depth)
	case o.Type.MT.IsArray():
		text, err := o.arrayText()
		return appendMissing(appendWords(l, text), err)
	}
	short := o.shortForm(limit)
	if depth > 0 {
		return append(l, short...)
	}
	// Name the type unless the field's declaration implies it.
	var unnamed error
	if from != nil {
		th, err := from.TypeHandle()
		if err == nil && th == o.Type.MT.Addr {
			n := o.countText()
			if n != "" && len(short) > 0 {
				n += " "
			}
			return append(appendWords(l, n), short...)
		}
		unnamed = err
	}
	name, err := o.Type.ManagedName()
	if err != nil {
		return appendMissing(l, err)
	}
	if n := o.countText(); n != "" {
		name += " " + n
	}
	if len(short) > 0 {
		name += " "
	}
	return appendMissing(append(appendWords(l, name), short...), unnamed)
}

// shortForm returns the short form of an object of the class library. It is empty for others.
func (o Object) shortForm(limit int) answer.Line {
	form, err := o.Type.lineForm()
	if err != nil || form.object == nil {
		return nil // reported by the caller that asks for the type's name
	}
	return form.object(o, limit)
}

// countText returns the number of elements of a collection, as in "(3)", or why it is unknown. It is empty for others.
func (o Object) countText() string {
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

// boxed returns the value in the box, with its type.
func (o Object) boxed() Value {
	et, err := o.Type.ElementType()
	if err != nil {
		return Value{r: o.Type.r, err: err}
	}
	return o.Type.r.value(et, o.data(), nil, o.Type)
}

// Boxed returns the value in the box. Its error is target.ErrArgument if the object is not a boxed value.
func (o Object) Boxed() Value {
	if !o.IsBoxed() {
		return Value{err: notBoxed(o)}
	}
	return o.boxed()
}

// appendQuoted appends the text of a string up to the first unreadable part, and that part's error.
func (o Object) appendQuoted(l answer.Line, limit int) answer.Line {
	n, err := o.Length()
	if err != nil {
		return appendMissing(l, err)
	}
	s, err := o.Text(limit)
	if err != nil && s == "" {
		return appendMissing(l, err)
	}
	return appendMissing(append(l, answer.LinePiece{Text: s, Quoted: true, Chars: n}), err)
}

func quoteChar(c uint16) string {
	if c >= 0xd800 && c < 0xe000 {
		return `'\u` + strconv.FormatUint(uint64(c), 16) + "'"
	}
	return strconv.QuoteRune(rune(c))
}

// arrayText returns the type of an array with its lengths, in C# syntax: System.Int32[3][].
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
	// The brackets of the outermost array come last in the type's name.
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

// A lineForm describes how objects or structs of a type are written on one line.
type lineForm struct {
	nullable bool
	text     func(Struct) (string, bool)                // nil for types without a short form
	part     func(Struct, int, int) (answer.Line, bool) // nil for types that are not a part of other memory
	object   func(Object, int) answer.Line              // nil for types without a short form
}

// lineForm returns how values of the type are written on one line.
func (t *Type) lineForm() (lineForm, error) {
	return t.form.Get(func() (lineForm, error) {
		name, err := t.openName()
		if err != nil {
			return lineForm{}, err
		}
		return lineForm{nullable: name == "System.Nullable`1", text: textForm(name), part: partForm(name), object: objectForm(name)}, nil
	})
}

// Inline returns the struct on one line.
func (s Struct) Inline(limit int) string { return s.appendInline(nil, limit, 0).String() }

func (s Struct) appendInline(l answer.Line, limit, depth int) answer.Line {
	if depth > inlineDepth || s.Type == nil {
		return l
	}
	form, err := s.Type.lineForm()
	if err != nil {
		return appendMissing(l, err)
	}
	if form.nullable {
		from := len(l)
		if l = s.appendNullable(l, limit, depth); len(l) > from {
			return l
		}
	}
	if form.text != nil {
		if text, ok := form.text(s); ok {
			return appendWords(l, text)
		}
	}
	if form.part != nil {
		if line, ok := form.part(s, limit, depth); ok {
			return append(l, line...)
		}
	}
	n, err := s.Type.elements()
	if err == nil && n > 0 {
		return s.appendRow(l, limit, depth)
	}
	return appendMissing(s.appendBraces(l, limit, depth, nil), err)
}

// appendRow lists the elements of an inline array: {1, 2, 3}.
func (s Struct) appendRow(l answer.Line, limit, depth int) answer.Line {
	l = appendWords(l, "{")
	for i, v := range s.Elements() {
		if i == inlineFields {
			l = appendWords(l, ", …")
			break
		}
		if i > 0 {
			l = appendWords(l, ", ")
		}
		l = v.appendPlain(l, limit, depth+1)
	}
	return appendWords(l, "}")
}

// appendBraces lists the fields: {X=1, Y=2}. The values of secret are masked.
func (s Struct) appendBraces(l answer.Line, limit, depth int, secret []*Field) answer.Line {
	labels, err := s.Type.bracedLabels()
	if len(labels) == 0 {
		return appendMissing(l, err)
	}
	fields, _ := s.Type.allFields()
	memory, n := s.Type.view(s.Addr), 0
	for _, f := range fields {
		if f.Static {
			continue
		}
		if n == inlineFields {
			l = append(l, answer.LinePiece{Text: ", …"})
			break
		}
		l = append(l, answer.LinePiece{Text: labels[n]})
		l = appendMissing(l, f.Err())
		if slices.Contains(secret, f) {
			l = append(l, answer.LinePiece{Text: secrets.Mask})
		} else {
			v := f.readFrom(memory, s.Addr)
			l = v.appendPlain(l, limit, depth+1)
		}
		n++
	}
	return appendMissing(append(l, answer.LinePiece{Text: "}"}), err)
}

// bracedLabels returns the text before the value of each instance field in braces: "{X=", ", Y=".
func (t *Type) bracedLabels() ([]string, error) {
	return t.labels.Get(func() ([]string, error) {
		fields, err := t.allFields()
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

// FieldLabel returns a field's name as in source code. For a field that the compiler made it is the name of the automatic property, or of
// the parameter of a primary constructor.
func FieldLabel(name string) string {
	if strings.HasPrefix(name, "<") {
		if p, ok := strings.CutSuffix(name[1:], ">k__BackingField"); ok {
			return p
		}
		if p, ok := strings.CutSuffix(name[1:], ">i__Field"); ok { // property of an anonymous type
			return p
		}
		if p, ok := strings.CutSuffix(name[1:], ">P"); ok { // parameter of a primary constructor
			return p
		}
	}
	return name
}

// SlotName returns the name of the place at an offset in bytes from the object's start. In an object it is the field,
// "_items", with dots through structs in place, "_entry._value". In an array it is the element, "[3]", "[1,2]" or
// "[5].value". If the place has no name, it is the offset, "+0x18".
func (o Object) SlotName(offset uint64) string {
	name := ""
	switch {
	case o.Type == nil:
	case o.Type.MT.IsArray():
		name = o.elementName(offset)
	case offset >= 8:
		name, _ = o.Type.FieldPath(offset - 8)
	}
	if name == "" {
		return fmt.Sprintf("+%#x", offset)
	}
	return name
}

// elementName returns SlotName for an array. It is empty for a place outside the elements.
func (o Object) elementName(offset uint64) string {
	a, err := o.Array()
	size := uint64(o.Type.MT.ComponentSize)
	data := uint64(a.data - o.Addr)
	if err != nil || size == 0 || offset < data {
		return ""
	}
	n := (offset - data) / size
	if n >= uint64(a.Len) {
		return ""
	}
	var b strings.Builder
	b.WriteByte('[')
	for i, k := range a.Index(uint32(n), nil) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(k)))
	}
	b.WriteByte(']')
	if a.typ != nil && a.typ.MT.IsValueType() {
		if path, _ := a.typ.FieldPath(offset - data - n*size); path != "" {
			b.WriteByte('.')
			b.WriteString(path)
		}
	}
	return b.String()
}
