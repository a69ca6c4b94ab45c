package objecttext

import (
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// detailsIndent is how far the description of an element is set in.
const detailsIndent = 4

// Array is the text of dumparray.
func Array(p *report.Page, a *answer.Array) {
	label := func(name, value string) { p.Printf("%-12s %s\n", name+":", report.Escape(value)) }
	label("Name", a.Type.String())
	label("MethodTable", report.Hex16(a.MethodTable))
	text.ClassLine(label, a.Class)
	label("Size", text.SizeText(answer.Known(a.Size)))
	p.Printf("Array:       Rank %d, Number of elements %d, Type %s\n", a.Rank, a.Length, a.ElementWord)
	p.Printf("Element Methodtable: %s\n", report.Hex16(a.ElementMethodTable))
	var line []byte
	for e := range report.Each(p, a.Elements) {
		line = appendElement(line[:0], p.SOS, &e)
		p.Write(line)
		switch {
		case e.Object != nil:
			text.IndentedObject(p, e.Object, detailsIndent)
		case e.Struct != nil:
			text.IndentedStruct(p, e.Struct, detailsIndent)
		case e.ObjectErr != nil:
			p.Printf("%*s%s\n", detailsIndent, "", answer.Absent(e.ObjectErr))
		}
	}
}

// appendElement appends the line of an element: its index, and a reference, null, or the address of a value.
func appendElement(b []byte, sos bool, e *answer.Element) []byte {
	for _, k := range e.Index {
		b = strconv.AppendInt(append(b, '['), int64(k), 10)
		b = append(b, ']')
	}
	b = append(b, ' ')
	v := e.Value
	switch {
	case e.Missing.Err != nil:
		return append(append(b, answer.Absent(e.Missing.Err)...), '\n')
	case v.Kind != answer.KindReference:
		b = report.AppendHex(b, uint64(v.At), 16)
	case v.Bits == 0:
		return append(b, "null\n"...)
	default:
		b = report.AppendHex(b, v.Bits, 16)
	}
	if !sos {
		if note := text.ElementNote(&e.Stored); note != "" {
			b = append(append(b, " "...), report.Escape(note)...)
		}
	}
	return append(b, '\n')
}

// NotArray writes SOS's text for an object that is not an array.
func NotArray(p *report.Page) {
	if p.SOS {
		p.Print("Not an array, please use dumpobj instead\n")
	}
}

// BadRank says, in SOS's form, that an array of several dimensions has no range of elements. The words are SOS's.
func BadRank(p *report.Page) {
	if p.SOS {
		p.Print("For multi-dimension array, length and start index are supported\n")
	}
}

// BadStart says, in SOS's form, that there is no such element.
func BadStart(p *report.Page) {
	if p.SOS {
		p.Print("Start index out of range\n")
	}
}
