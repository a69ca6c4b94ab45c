package text

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Object writes an object as dumpobj does.
func Object(p *report.Page, o *answer.Object) { object(newPieces(p, 0), o) }

// IndentedObject writes an object as part of another listing.
func IndentedObject(p *report.Page, o *answer.Object, indent int) { object(newPieces(p, indent), o) }

// Struct writes an inline value type as dumpvc does. Like SOS, it prints the size of the boxed value.
func Struct(p *report.Page, s *answer.Struct) { structure(newPieces(p, 0), s) }

// IndentedStruct writes a value type as part of another listing.
func IndentedStruct(p *report.Page, s *answer.Struct, indent int) { structure(newPieces(p, indent), s) }

// InvalidObject writes SOS's text for an address without an object.
func InvalidObject(p *report.Page, err error) {
	if !p.SOS {
		return
	}
	if errors.Is(err, target.ErrArgument) || errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrNotInDump) {
		p.Print("<Note: this object has an invalid CLASS field>\n")
	}
	p.Print("Invalid object\n")
}

func object(out *pieces, o *answer.Object) {
	if o.Free {
		out.print("Free Object\n")
		sizeLine(out, o.Size)
		return
	}
	out.label("Name", o.Type.String())
	out.label("MethodTable", report.Hex16(o.MethodTable))
	sizeLine(out, o.Size)
	runtimeTypeLines(out, o)
	switch {
	case o.ArrayErr != nil:
		out.label("Array", answer.Absent(o.ArrayErr))
	case o.Rank > 0:
		arrayLines(out, o)
	default:
		fileLine(out, o.File)
		stringLine(out, o)
	}
	if !o.Listed() {
		return
	}
	out.print("Fields:\n")
	t := fieldTable{out: out, sos: out.exact}
	t.print(&o.FieldList)
	if l := o.ThinLock; l != nil {
		out.printf("ThinLock owner %x (%s), Recursive %x\n", l.Owner, report.Hex16(l.Thread), l.Recursion)
	}
}

func structure(out *pieces, s *answer.Struct) {
	out.label("Name", s.Type.String())
	out.label("MethodTable", report.Hex16(s.MethodTable))
	switch {
	case !s.Class.Canonical:
		ClassLine(out.label, s.Class)
	case s.Class.Addr != s.MethodTable:
		out.printf("Canonical: %s\n", report.Hex16(s.Class.Addr))
	}
	sizeLine(out, answer.Known(s.Size))
	fileLine(out, s.File)
	if !s.Text.Blank() && !out.exact {
		out.label("Value", s.Text.String())
	}
	if !s.Listed() {
		return
	}
	out.print("Fields:\n")
	t := fieldTable{out: out, sos: out.exact}
	t.print(&s.FieldList)
}

// ClassLine writes the EEClass with label. Since .NET 9 the EEClass is the canonical MethodTable.
func ClassLine(label func(name, value string), c answer.Class) {
	if c.Err != nil {
		label("EEClass", answer.Absent(c.Err))
		return
	}
	label("EEClass", report.Hex16(c.Addr))
}

func sizeLine(out *pieces, size answer.Maybe[uint64]) { out.label("Size", SizeText(size)) }

// SizeText returns a size as SOS's dumpobj writes it, or the reason why it is missing.
func SizeText(size answer.Maybe[uint64]) string {
	if size.Err() != nil {
		return answer.Absent(size.Err())
	}
	return fmt.Sprintf("%d(0x%x) bytes", size.Value, size.Value)
}

func fileLine(out *pieces, file answer.Text) {
	if file.IsZero() {
		file.S = "Unknown Module"
	}
	out.label("File", file.String())
}

// runtimeTypeLines writes the type that a System.RuntimeType object represents.
func runtimeTypeLines(out *pieces, o *answer.Object) {
	if o.RuntimeTypeName == nil {
		return
	}
	out.label("Type Name", o.RuntimeTypeName.String())
	switch th := o.RuntimeType; {
	case th == nil:
	case *th&2 != 0:
		out.label("TypeDesc", report.Hex16(*th))
	default:
		out.label("Type MT", report.Hex16(*th))
	}
}

// arrayLines write rank, length and element type, and the content of an array of bytes or characters as text.
func arrayLines(out *pieces, o *answer.Object) {
	out.printf("Array:       Rank %d, Number of elements %d, Type %s", o.Rank, *o.Length, o.ElementWord)
	out.print("\n")
	switch c := o.Content; {
	case c == nil:
	case c.Err != nil:
		out.label("Content", c.String())
	default:
		out.print("Content:     ")
		out.print(c.S)
		out.print("\n")
	}
}

// personChars is the maximum length of a string that text shows in full. SOS's form has the limit of the answer.
const personChars = 4096

func stringLine(out *pieces, o *answer.Object) {
	if o.String == nil && o.StringErr == nil {
		return
	}
	text, more, err := o.StringStart, "", o.StringErr
	if o.String != nil {
		text = *o.String
	}
	if o.Length != nil {
		whole := uint64(*o.Length)
		_, read := answer.CutText(text, -1)
		switch {
		case out.exact && err == nil && read < whole:
			out.label("String", "<String is invalid or too large to print>")
			out.print("\n")
			return
		case !out.exact && whole > personChars:
			if read >= personChars {
				err = nil // the missing part would not be shown
			}
			text, _ = answer.CutText(text, personChars)
			more = fmt.Sprintf("… (%d characters: dumpstring prints all)", whole)
		}
	}
	if err != nil {
		out.label("String", answer.Absent(err))
		return
	}
	out.print("String:      ")
	out.print(report.Escape(text) + more)
	out.print("\n")
}
