package commands

import (
	"errors"
	"strconv"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// inlineChars is how much of a string stands beside a field.
const inlineChars = 64

const missing = "<not in dump>"

// blankValue fills the Value column of a field that has no value.
const blankValue = "                "

// A fieldTable prints fields as SOS's dumpobj, dumpvc, dumpclass and dumpmt
// -all do. The columns are the same for all four.
type fieldTable struct {
	out *pieces
	rt  *dac.Runtime
	sos bool
	// warn is told what is missing.
	warn func(error)
	// data is where the instance's fields start, 0 when there is no instance:
	// then instance fields have no value.
	data target.Addr
	// valueType numbers offsets from the first field and not from the
	// MethodTable pointer.
	valueType bool
	// threads are the runtime's threads, for thread statics.
	threads func() []dac.Thread
}

// print prints the header and all of t's fields, or None. Which of the two
// depends, as in SOS, on the statics of t itself but not on inherited ones.
func (ft *fieldTable) print(t *objects.Type) {
	fields, err := t.Fields()
	if err != nil {
		ft.warn(err)
	}
	if !hasOwnOrInstance(fields, t) {
		ft.out.print([2]string{"None\n", missing + "\n"}[boolIndex(err != nil)])
		return
	}
	ft.row("MT", "Field", "Offset", "Type", "VT", "Attr", "Value", "Name", true)
	for _, f := range fields {
		ft.field(f)
	}
}

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

func hasOwnOrInstance(fields []*objects.Field, t *objects.Type) bool {
	for _, f := range fields {
		if !f.Static || f.Declaring == t {
			return true
		}
	}
	return false
}

// row writes one line of the table in SOS's pieces.
func (ft *fieldTable) row(mt, field, offset, typ, vt, attr, value, name string, header bool) {
	out := ft.out
	if out.indent > 0 {
		// The table is indented once more than the text around it.
		outer := out.indent
		out.indent *= 2
		out.printf("%16s %8s %8s ", mt, field, offset)
		out.indent = outer
	} else {
		out.printf("%16s %8s %8s ", mt, field, offset)
	}
	if header {
		inner := *out
		inner.exact = false
		inner.printf("%20s %4s %8s %16s %s\n", typ, vt, attr, value, name)
		out.inLine = false
		return
	}
	out.printf("%20.20s ", typ)
	out.printf("%4s ", vt)
	out.printf("%8s ", attr)
	if value != "" {
		out.printf("%16s ", value)
	} else {
		out.print(" ")
	}
	out.printf("%s\n", name)
}

// field prints one field and, of a thread static, its values.
func (ft *fieldTable) field(f *objects.Field) {
	offset := uint64(f.Offset)
	if !ft.valueType && !(f.Static && f.Thread) {
		offset += dac.ObjectHeaderBytes
	}
	vt := [2]string{"No", "Yes"}[boolIndex(f.InPlace())]
	attr, value, note := "instance", blankValue, ""
	switch {
	case f.Static && f.Thread:
		attr, value = "TLstatic", ""
	case f.Static:
		attr = "static"
		value, note = ft.static(f)
	case ft.data != 0:
		v := f.At(ft.data)
		value, note = ft.value(v, v.Location())
	}
	name := f.Name
	if err := f.Err(); err != nil {
		ft.warn(err)
		if name == "" {
			name = missing
		}
	}
	name = report.Escape(name)
	if note != "" {
		name += " = " + report.Escape(note)
	}
	mt, typ := ft.typeOf(f)
	ft.row(mt, strings.ToLower(f.Token.String()), strconv.FormatUint(offset, 16), report.Escape(typ), vt, attr, value, name, false)
	if f.Static && f.Thread {
		ft.threadStatics(f)
	}
}

// typeOf is the MethodTable of a field's type and its name, cut. A type that
// has no MethodTable of its own goes by its element type.
func (ft *fieldTable) typeOf(f *objects.Field) (mt, name string) {
	resolve := f.TypeHandle
	if ft.sos {
		resolve = f.SharedTypeHandle
	}
	th, err := resolve()
	if err != nil && f.Err() == nil {
		ft.warn(err)
	}
	if err != nil {
		th = 0
	}
	et := f.ElementType
	// A pointer goes as a number of its size.
	switch {
	case et == metadata.ElementFnPtr:
		th, err = ft.rt.CorType(metadata.ElementI)
	case et == metadata.ElementPtr && th != 0:
		th, err = ft.rt.CorType(metadata.ElementU)
	default:
		th, err = ft.rt.TypeHandleMethodTable(th)
	}
	if err != nil {
		th = 0
	}
	return report.Hex16(th), report.CutStart(ft.typeName(f, th), 20)
}

// typeName is the name that SOS prints for the type of a field.
func (ft *fieldTable) typeName(f *objects.Field, th target.Addr) string {
	et := f.ElementType
	if !ft.sos {
		if name, err := f.TypeName(dac.NameNative); err == nil {
			return name
		}
	}
	class := et == metadata.ElementClass || et == metadata.ElementValueType
	if class && th != 0 {
		name, err := ft.rt.TypeName(th, dac.NameNative)
		if err != nil {
			ft.warn(err)
			return missing
		}
		return name
	}
	sig := f.Signature()
	if class && sig != nil {
		if sig.Kind == metadata.ElementClass {
			name, err := f.TypeName(dac.NameNative)
			if err == nil {
				return name
			}
		}
		et = sig.Kind
	}
	return elementName(et)
}

// elementName is SOS's name for an element type without a MethodTable.
func elementName(et metadata.ElementType) string {
	if name := dac.CorTypeName(et); name != "" {
		return name
	}
	return elementWord(et)
}

// elementWord is SOS's word for an element type: that of the type without its
// namespace, or of the specification in capitals.
func elementWord(et metadata.ElementType) string {
	switch et {
	case metadata.ElementPtr:
		return "PTR"
	case metadata.ElementByRef:
		return "BYREF"
	case metadata.ElementValueType:
		return "VALUETYPE"
	case metadata.ElementClass:
		return "CLASS"
	case metadata.ElementVar:
		return "VAR"
	case metadata.ElementArray:
		return "ARRAY"
	case metadata.ElementFnPtr:
		return "FNPTR"
	case metadata.ElementSZArray:
		return "SZARRAY"
	case metadata.ElementMVar:
		return "MVAR"
	}
	return strings.TrimPrefix(dac.CorTypeName(et), "System.")
}

// value is what stands in the Value column, and what is added behind the name.
// A struct is shown by the address of its first field, or of the slot that
// holds its box.
func (ft *fieldTable) value(v objects.Value, at target.Addr) (text, note string) {
	if err := v.Err(); err != nil {
		ft.warn(err)
		return missingText(err), ""
	}
	text = sosValue(v, at)
	if ft.sos {
		return text, ""
	}
	if v.Kind() == objects.KindFloat {
		text = v.FormatFloat()
	}
	return text, v.Inline(inlineChars)
}

func missingText(err error) string {
	if errors.Is(err, target.ErrNotInDump) {
		return missing
	}
	return "<unreadable>"
}

// sosValue is a value as SOS prints it.
func sosValue(v objects.Value, at target.Addr) string {
	bits, _ := v.Bits()
	switch v.Kind() {
	case objects.KindInt:
		n, _ := v.Int()
		return strconv.FormatInt(n, 10)
	case objects.KindBool, objects.KindUint:
		return strconv.FormatUint(bits, 10)
	case objects.KindChar:
		return strconv.FormatUint(bits, 16)
	case objects.KindFloat:
		f, _ := v.Float()
		return sosFloat(f)
	case objects.KindStruct:
		return report.Hex16(at)
	}
	return report.Hex16(bits)
}

// static reads a static field that all threads share. One that is not
// initialised has no value; what its memory holds so far is printed where that
// is not zero, and by SOS always.
func (ft *fieldTable) static(f *objects.Field) (text, note string) {
	return ft.staticText(f.StaticValue())
}

func (ft *fieldTable) staticText(s objects.Static) (text, note string) {
	if s.Err != nil {
		ft.warn(s.Err)
		return missingText(s.Err), ""
	}
	switch s.State {
	case dac.StaticReady:
		return ft.value(s.Stored, s.Slot)
	case dac.StaticUnknown:
		note = "<perhaps not initialised>"
	default:
		note = "<not initialised>"
	}
	if ft.sos {
		note = ""
	}
	bits, err := s.Stored.Bits()
	if s.Slot == 0 || !ft.sos && err == nil && bits == 0 {
		return blankValue, note
	}
	text, more := ft.value(s.Stored, s.Stored.Location())
	switch {
	case err != nil:
		note = ""
	case more != "":
		note = more + " " + note
	}
	return text, note
}

// threadStatics prints the values of a thread static by thread.
func (ft *fieldTable) threadStatics(f *objects.Field) {
	ft.out.print("    Thread static values (Thread:Value)\n")
	threads := ft.threads()
	for i := range threads {
		t := &threads[i]
		if t.OSID == 0 {
			continue
		}
		s := f.ThreadStatic(t)
		if s.Err != nil {
			ft.warn(s.Err)
			ft.out.printf("        %x:%s\n", t.OSID, missingText(s.Err))
			continue
		}
		if s.State != dac.StaticReady {
			continue
		}
		text, note := ft.value(s.Stored, s.Slot)
		ft.out.printf("        %x:", t.OSID)
		ft.out.print(text)
		if note != "" {
			ft.out.print(" = " + report.Escape(note))
		}
		ft.out.print("\n")
	}
	ft.out.print("\n")
}
