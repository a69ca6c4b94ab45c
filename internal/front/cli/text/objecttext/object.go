package objecttext

import (
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Object is the text of dumpobj.
func Object(p *report.Page, o *answer.Object) {
	text.Object(p, o)
	if o.Task != nil && !p.SOS {
		p.Print("Task: ")
		text.TaskState(p, o.Task)
	}
	if o.Collection != nil && !p.SOS {
		collectionStart(p, o)
	}
	if len(o.Words) > 0 {
		wordTable(p, o.Words)
	}
	if o.HasReferences {
		referenceTable(p, o.References)
	}
}

// wordTable writes the words of an object with unknown fields.
func wordTable(p *report.Page, words []answer.Word) {
	p.Print("Words:\n")
	t := p.Table(
		report.Column{Name: "Offset", Kind: report.HexOffset},
		report.Column{Name: "Value", Kind: report.Pointer},
		report.Column{Name: "Refers to", Kind: report.TypeName})
	p.Fail(t.Header())
	for _, w := range words {
		p.Fail(t.Row(w.Offset, uint64(w.Value), w.Type))
	}
	p.Fail(t.Flush())
}

// Struct is the text of dumpvc.
func Struct(p *report.Page, s *answer.Struct) { text.Struct(p, s) }

// InvalidObject writes SOS's text for an address without an object.
func InvalidObject(p *report.Page, err error) { text.InvalidObject(p, err) }

// InvalidStruct writes SOS's text for an address without a value type.
func InvalidStruct(p *report.Page) {
	if p.SOS {
		p.Print("Not a managed object\n")
	}
}

// References is the text of dumpobjgcrefs.
func References(p *report.Page, refs iter.Seq2[answer.Reference, error]) {
	referenceTable(p, slices.Collect(report.Each(p, refs)))
}

// referenceTable writes references. SOS lists only references stored in objects.
func referenceTable(p *report.Page, refs []answer.Reference) {
	if p.SOS {
		refs = slices.DeleteFunc(slices.Clone(refs), func(r answer.Reference) bool { return r.Implied })
	}
	if len(refs) == 0 {
		p.Print("GC Refs: none\n")
		return
	}
	p.Print("GC Refs:\n")
	t := p.Table(
		report.Column{Name: "Field", Kind: report.Text, Fit: true},
		report.Column{Name: "Offset", Kind: report.HexOffset},
		report.Column{Name: "Object", Kind: report.Pointer},
		report.Column{Name: "Type", Kind: report.TypeName})
	p.Fail(t.Header())
	for _, r := range refs {
		p.Fail(t.Row(r.Field, r.Offset, uint64(r.Object), r.Type))
	}
	p.Fail(t.Flush())
}

// String is the text of dumpstring, escaped for a terminal, with a trailing newline.
func String(p *report.Page, s *answer.String) {
	if s.File != "" {
		return
	}
	err := s.Text.StreamText(func(part string) error {
		p.Print(report.EscapeText(part))
		return p.Err()
	})
	p.Print("\n")
	p.Fail(err)
}

// RawString is the text of dumpstring -raw, unescaped, in UTF-8.
func RawString(p *report.Page, s *answer.String) {
	p.Fail(s.Text.StreamText(func(part string) error {
		p.Print(utf16text.Valid(part))
		return p.Err()
	}))
}

// Delegate is the text of dumpdelegate. SOS lists the last call first.
func Delegate(p *report.Page, calls iter.Seq2[answer.DelegateCall, error]) {
	list := slices.Collect(report.Each(p, calls))
	if p.SOS {
		slices.Reverse(list)
	}
	p.Print("Target           Method           Name\n")
	for _, call := range list {
		if call.Method == 0 {
			p.Printf("%s (unknown)\n", report.Hex16(call.Target))
			continue
		}
		name := answer.Text{S: call.Name, Err: call.Missing.Err}
		p.Printf("%s %s %s\n", report.Hex16(call.Target), report.Hex16(call.Method), report.Escape(name.String()))
	}
}

// NotDelegate writes SOS's text for an object that is not a delegate.
func NotDelegate(p *report.Page, typ answer.Text) {
	if p.SOS {
		p.Printf("Object of type '%s' is not a delegate.\n", report.Escape(typ.String()))
	}
}
