package text

import (
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// noValue fills the Value column of a field that has no value.
const noValue = "                "

// Fields writes the fields of a type and the values of its statics, as SOS's dumpclass and dumpmt -all do. Like SOS,
// it counts offsets as in a boxed value, even for value types.
func Fields(p *report.Page, l *answer.FieldList) {
	t := fieldTable{out: newPieces(p, 0), sos: p.SOS}
	t.print(l)
}

// A fieldTable writes fields as SOS's dumpobj, dumpvc, dumpclass and dumpmt -all do. The columns are the same for all
// four.
type fieldTable struct {
	out *pieces
	sos bool
}

// print writes the header and all fields, or None. As in SOS, the choice depends on the type's own statics, not on
// inherited ones.
func (t *fieldTable) print(l *answer.FieldList) {
	if !hasOwnOrInstance(l.Fields) {
		words := "None"
		if l.FieldsErr != nil {
			words = answer.Absent(l.FieldsErr)
		}
		t.out.print(words + "\n")
		return
	}
	t.head()
	for i := range l.Fields {
		t.field(&l.Fields[i])
	}
}

func hasOwnOrInstance(fields []answer.Field) bool {
	for i := range fields {
		if fields[i].Kind == answer.FieldInstance || !fields[i].Inherited {
			return true
		}
	}
	return false
}

// first writes the first three columns, which are indented once more than the text around the table.
func (t *fieldTable) first(mt, field, offset string) {
	outer := t.out.indent
	t.out.indent *= 2
	t.out.printf("%16s %8s %8s ", mt, field, offset)
	t.out.indent = outer
}

func (t *fieldTable) head() {
	t.first("MT", "Field", "Offset")
	exact := t.out.exact
	t.out.exact = false
	t.out.printf("%20s %4s %8s %16s %s\n", "Type", "VT", "Attr", "Value", "Name")
	t.out.exact = exact
}

// field writes one field and, of a thread static, its values. The pieces are SOS's.
func (t *fieldTable) field(f *answer.Field) {
	typ := &f.Exact
	if t.sos {
		typ = &f.Shared
	}
	attr, value, note := t.value(f)
	mt := Hex16(typ.MethodTable)
	if t.sos && typ.MethodTable.IsZero() {
		mt = report.Hex16(answer.Hex(0)) // SOS's word for a type that it doesn't find, for whatever reason: scripts want a number here
	}
	t.first(mt, strings.ToLower(f.Token), strconv.FormatUint(uint64(f.InObject), 16))
	t.out.printf("%20.20s ", report.Escape(report.CutStart(typ.Name.String(), 20)))
	t.out.printf("%4s ", yesNo(f.InPlace))
	t.out.printf("%8s ", attr)
	if value != "" {
		t.out.printf("%16s ", value)
	} else {
		t.out.print(" ")
	}
	name := report.Escape(f.Name.String())
	if note != "" {
		name += " = " + report.Escape(note)
	}
	t.out.printf("%s\n", name)
	if f.Kind == answer.FieldThreadStatic {
		t.threadValues(f.Threads)
	}
}

func yesNo(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}

// value returns the texts of the columns Attr and Value, and the note after the name.
func (t *fieldTable) value(f *answer.Field) (attr, value, note string) {
	switch {
	case f.Kind == answer.FieldThreadStatic:
		return "TLstatic", "", ""
	case f.Kind == answer.FieldStatic:
		value, note = PlaceText(t.sos, &f.Place)
		return "static", value, note
	case f.Address == nil: // there is no instance
		return "instance", noValue, ""
	}
	value, note = valueText(t.sos, &f.Stored, *f.Address)
	return "instance", value, note
}

// PlaceText returns the value of a static, and what is added behind its name. One that is not initialised has no value;
// what its memory holds so far is shown where that is not zero, and by SOS always.
func PlaceText(sos bool, f *answer.Place) (value, note string) {
	stored := &f.Stored
	switch {
	case f.Missing.Err == answer.ErrNotInitialised:
		stored, note = f.SoFar, "<not initialised>"
	case f.Missing.Err == answer.ErrInitializerFailed:
		stored, note = f.SoFar, "<initializer failed>"
	case f.Doubtful:
		note = "<perhaps not initialised>"
	case f.Address != nil:
		return valueText(sos, stored, *f.Address)
	default:
		return valueText(sos, stored, 0)
	}
	if sos {
		note = ""
	}
	if stored == nil || !sos && stored.Missing.Err == nil && stored.Value.Bits == 0 {
		return noValue, note
	}
	value, more := valueText(sos, stored, stored.Value.At)
	switch {
	case stored.Missing.Err != nil:
		note = ""
	case more != "":
		note = more + " " + note
	}
	return value, note
}

// threadValues writes the values of a thread static by thread.
func (t *fieldTable) threadValues(values []answer.ThreadValue) {
	t.out.print("    Thread static values (Thread:Value)\n")
	for i := range values {
		v := &values[i]
		text, note := valueText(t.sos, &v.Stored, v.Address)
		if v.Address == 0 {
			t.out.printf("        %x:%s\n", v.Thread, text)
			continue
		}
		t.out.printf("        %x:", v.Thread)
		t.out.print(text)
		if note != "" {
			t.out.print(" = " + report.Escape(note))
		}
		t.out.print("\n")
	}
	t.out.print("\n")
}
