package objecttext

import (
	"strconv"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// Collection is the text of items.
func Collection(p *report.Page, c *answer.Collection) {
	p.Printf("%-12s %s\n", "Name:", report.Escape(c.Type.String()))
	p.Printf("%-12s %s\n", "MethodTable:", report.Hex16(c.MethodTable))
	if c.Count.Err() == nil {
		p.Printf("%-12s %d\n", "Count:", c.Count.Value)
	}
	if c.Text != nil {
		p.Printf("%-12s %s\n", "Text:", report.EscapeLines(*c.Text, len("MethodTable: ")))
	}
	p.Fail(c.Items.Format(func() answer.AppendItem { return appendItem }, func(rows []byte) error {
		_, err := p.Write(rows)
		return err
	}))
	if c.Items != nil && c.Count.Err() != nil && c.Found.Err() == nil {
		p.Printf("Elements:    %d\n", c.Found.Value)
	}
}

// collectionStart writes the first elements of a collection.
func collectionStart(p *report.Page, o *answer.Object) {
	c := o.Collection
	if c.Count.Err() == nil {
		p.Printf("%-12s %d\n", "Count:", c.Count.Value)
	}
	if c.Text != nil {
		p.Printf("%-12s %s\n", "Text:", report.EscapeLines(*c.Text, len("MethodTable: ")))
	}
	for i := range c.First {
		p.Write(appendItem(nil, &c.First[i]))
	}
	if c.More {
		p.Printf("… items %s has all\n", report.Hex16(o.Address))
	}
}

// appendItem appends the line of an element: [3] "key" = value.
func appendItem(b []byte, i *answer.CollectionItem) []byte {
	b = append(b, '[')
	b = strconv.AppendUint(b, i.Index, 10)
	b = append(b, "] "...)
	if i.HasKey {
		b = text.AppendStored(b, &i.Key)
	}
	if i.HasKey && i.HasValue {
		b = append(b, " = "...)
	}
	if i.HasValue {
		b = text.AppendStored(b, &i.Item)
	}
	return append(b, '\n')
}

// OtherCollection writes SOS's text for an object of another class.
func OtherCollection(p *report.Page, a target.Addr, want string, typ answer.Text) {
	if p.SOS {
		p.Printf("%x is not a %s but an instance of %s...\n", uint64(a), want, report.Escape(typ.String()))
	}
}

// NoObject writes the text of SOS's collection commands for an address without an object.
func NoObject(p *report.Page, a target.Addr) {
	if p.SOS {
		p.Printf("%x is not referencing an object...\n", uint64(a))
	}
}

// sosLine ends the lists of SOS's collection commands.
const sosLine = "---------------------------------------------\n"

// sosItemChars is the maximum length of a dictionary element in SOS's form.
const sosItemChars = 100

// ConcurrentDictionary is the text of dumpconcurrentdictionary.
func ConcurrentDictionary(p *report.Page, c *answer.Collection) {
	if !p.SOS {
		Collection(p, c)
		return
	}
	p.Print(report.Escape(c.Type.String()) + "\n")
	n := 0
	for i := range report.Each(p, c.Items.All()) {
		n++
		p.Printf("    -----\n      Key: %s\n    Value: %s\n", sosItem(&i.Key, &i.Referred.Key, ""), sosItem(&i.Item, &i.Referred.Value, ""))
	}
	p.Print(sosLine)
	p.Printf("%d items\n\n", n)
}

// ConcurrentQueue is the text of dumpconcurrentqueue.
func ConcurrentQueue(p *report.Page, c *answer.Collection) {
	if !p.SOS {
		Collection(p, c)
		return
	}
	p.Print(report.Escape(c.Type.String()) + "\n")
	n := 0
	for i := range report.Each(p, c.Items.All()) {
		n++
		p.Printf("%4d - %s\n", n, sosItem(&i.Item, &i.Referred.Value, "0x"))
	}
	p.Print(sosLine)
	p.Printf("%d items\n\n", n)
}

// sosItem formats an element as SOS does: a string, a number, or the command that shows it. In a queue, addresses
// have a prefix, elements are not cut, and arrays are shown as objects.
func sosItem(s *answer.Stored, r *answer.Referred, prefix string) string {
	switch v := s.Value; {
	case s.Missing.Err != nil:
		return answer.Absent(s.Missing.Err)
	case v.Kind == answer.KindStruct:
		return "dumpvc " + report.Hex16(r.MethodTable) + " " + report.Hex16(r.At)
	case v.Kind != answer.KindReference:
		return sosNumber(v)
	case v.Bits == 0:
		return "null"
	case r.IsString:
		quoted := report.Escape("\"" + r.String + "\"")
		if start, units := answer.CutText(quoted, sosItemChars); prefix == "" && uint64(len(quoted)) > units && start != quoted {
			return start + "..."
		}
		return quoted
	case !r.Boxed.IsZero():
		return sosNumber(r.Boxed)
	case r.IsArray && prefix == "":
		return "dumparray " + report.Hex16(r.At)
	}
	return "dumpobj " + prefix + report.Hex16(target.Addr(s.Value.Bits))
}

// sosNumber formats a primitive value as .NET does.
func sosNumber(v answer.Value) string {
	switch v.Kind {
	case answer.KindBool:
		if v.Bits != 0 {
			return "True"
		}
		return "False"
	case answer.KindChar:
		return "'" + report.Escape(utf16text.FromUnits([]uint16{uint16(v.Bits)})) + "'"
	case answer.KindFloat:
		return text.SOSFloat(v.Float())
	case answer.KindPointer:
		if v.Bits == 0 {
			return "null"
		}
	}
	return v.Plain()
}
