package objecttext

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// ListingOptions choose the form of a listing.
type ListingOptions struct {
	Short bool // only the addresses of objects, for scripts
}

// Listing is the text of dumpheap.
func Listing(p *report.Page, l *answer.Listing, o ListingOptions) {
	if l.Locks != nil {
		locks(p, l.Locks)
	}
	behind := objects(p, l.Objects, o.Short)
	if l.Statistics != nil && !o.Short {
		statistics(p, l.Statistics, behind)
	}
	stringCounts(p, l.Strings, behind)
}

// shownChars is the maximum length of a string shown with its object.
const shownChars = 64

// objects writes a list of objects, which may be nil: a table, or their addresses alone. It reports whether there were
// any.
func objects(p *report.Page, list *answer.Objects, short bool) (any bool) {
	if list == nil {
		return false
	}
	chars, newRow, write := shownChars, objectRow, writer(p)
	if p.SOS || short {
		chars = 0
	}
	if short {
		newRow = func() answer.AppendObject { return appendAddress }
	}
	p.Fail(list.Format(chars, newRow, func(rows []byte) error {
		if !any && !short {
			p.Fail(objectTable(p).Header())
		}
		any = true
		return write(rows)
	}))
	return any
}

func writer(p *report.Page) func(rows []byte) error {
	return func(rows []byte) error {
		_, err := p.Write(rows)
		return err
	}
}

func appendAddress(b []byte, o *answer.HeapObject) []byte {
	return append(report.AppendHex(b, uint64(o.Address), 12), '\n')
}

// objectTable returns the table of objects. The last column shows Free, and in sosgo's own form the text of a string.
func objectTable(w io.Writer) *report.Table {
	return report.NewTable(w,
		report.Column{Name: "Address", Kind: report.Pointer},
		report.Column{Name: "MT", Kind: report.Pointer},
		report.Column{Name: "Size", Kind: report.Integer},
		report.Column{Kind: report.Text})
}

// objectRow makes a function that appends rows of the objectTable.
func objectRow() answer.AppendObject {
	var out appender
	t := objectTable(&out)
	return func(b []byte, o *answer.HeapObject) []byte {
		out.b = b
		t.Uint(uint64(o.Address))
		t.Uint(uint64(o.MethodTable))
		t.Uint(o.Size)
		t.Text(note(o))
		_ = t.End() // an appender takes everything
		return out.b
	}
}

// An appender is a writer that appends to a slice.
type appender struct{ b []byte }

func (a *appender) Write(b []byte) (int, error) {
	a.b = append(a.b, b...)
	return len(b), nil
}

func note(o *answer.HeapObject) string {
	switch s := o.String; {
	case o.Free:
		return "Free"
	case s == nil:
		return ""
	case s.Text.Err != nil:
		return s.Text.String()
	case s.Whole:
		return quoted(s.Text.S)
	default:
		return quoted(s.Text.S) + "..."
	}
}

// quoted is answer.Quote, faster for what needs no escapes: there are millions of strings.
func quoted(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return answer.Quote(s)
		}
	}
	return `"` + s + `"`
}

// statistics writes what was counted by type; behind a list an empty line comes first.
func statistics(p *report.Page, s *answer.Statistics, behind bool) {
	if s.Count == 0 {
		return
	}
	if behind {
		p.Print("\n")
	}
	p.Print("Statistics:\n")
	t := p.Table(
		report.Column{Name: "MT", Kind: report.Pointer, Fit: true},
		report.Column{Name: "Count", Kind: report.Integer, Fit: true},
		report.Column{Name: "TotalSize", Kind: report.Integer, Fit: true},
		report.Column{Name: "Class Name", Kind: report.TypeName})
	t.Header()
	for i := range s.Types {
		e := &s.Types[i]
		t.Uint(uint64(e.MethodTable))
		t.Uint(e.Count)
		t.Uint(e.Size)
		t.Text(typeName(p, e.Type, e.MethodTable))
		t.End()
	}
	p.Fail(t.Flush())
	p.Printf("Total %s objects, %s bytes\n", report.Commas(s.Count), report.Commas(s.Size))
	fragments(p, s.Fragments)
}

func fragments(p *report.Page, list []answer.Fragment) {
	if len(list) == 0 {
		return
	}
	p.Print("\nFragmented blocks larger than 0.5 MB:\n")
	t := p.Table(
		report.Column{Name: "Address", Kind: report.Pointer},
		report.Column{Name: "Size", Kind: report.Integer},
		report.Column{Name: "Followed By", Kind: report.Pointer},
		report.Column{Kind: report.TypeName})
	t.Header()
	for i := range list {
		f := &list[i]
		t.Uint(uint64(f.Address))
		t.Uint(f.Size)
		t.Uint(uint64(f.Next))
		t.Text(typeName(p, f.NextType, f.NextMethodTable))
		t.End()
	}
}

func locks(p *report.Page, list []answer.ThinLock) {
	t := p.Table(
		report.Column{Name: "Object", Kind: report.Pointer},
		report.Column{Name: "Thread", Kind: report.Pointer},
		report.Column{Name: "OSId", Kind: report.HexValue},
		report.Column{Name: "Recursion", Kind: report.Integer})
	if len(list) > 0 {
		t.Header()
	}
	for i := range list {
		l := &list[i]
		t.Row(uint64(l.Object), uint64(l.Thread), l.OSID, l.Recursion)
	}
}

const (
	sosStringWidth = 64  // what a redirected SOS leaves a string
	stringWidth    = 128 // what sosgo leaves it
)

func stringCounts(p *report.Page, list *answer.StringCounts, behind bool) {
	if list == nil {
		return
	}
	header, write := true, writer(p)
	p.Fail(list.Format(func() answer.AppendStringCount { return stringRow(p) }, func(rows []byte) error {
		if header {
			header = false
			if behind {
				p.Print("\n")
			}
			p.Print("Statistics:\n")
		}
		return write(rows)
	}))
}

// stringRow makes a function that appends rows of the table of contents.
func stringRow(p *report.Page) answer.AppendStringCount {
	var out appender
	t := report.NewTable(&out, report.Column{Kind: report.Integer}, report.Column{Kind: report.Integer}, report.Column{Kind: report.Text})
	return func(b []byte, s *answer.StringCount) []byte {
		out.b = b
		t.Uint(s.Count)
		t.Uint(s.Size)
		t.Text(content(p, s.Text))
		_ = t.End() // an appender takes everything
		return out.b
	}
}

func content(p *report.Page, t answer.Text) string {
	switch {
	case t.Err != nil:
		return t.String()
	case p.SOS:
		return sosString(p.Masked(t.S))
	}
	return report.CutEnd(t.S, stringWidth)
}

// sosString returns a string as SOS prints it: letters and digits alone stay as they are, others are cut, and lose what
// is neither letter, digit, punctuation nor space.
func sosString(s string) string {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var r []rune
	for _, c := range utf16text.Runes(s) {
		r = append(r, c)
	}
	r = r[:min(len(r), sosStringWidth)]
	for i, c := range r {
		if !plain(c) && !unicode.IsPunct(c) && !unicode.Is(unicode.Zs, c) {
			r[i] = '.'
		}
	}
	return string(r)
}

// Generation is the text of dumpgen.
func Generation(p *report.Page, g *answer.GenerationObjects) {
	if g.Objects != nil {
		p.Printf("%16s %16s %8s\n", "Address", "MT", "Size")
		p.Fail(g.Objects.Format(0, func() answer.AppendObject { return appendPlain }, writer(p)))
	} else {
		plainStatistics(p, g.Types, func(c *answer.TypeCount) string { return typeName(p, c.Type, c.MethodTable) })
	}
	if g.Count.Err() == nil {
		p.Printf("Total %d objects\n\n", g.Count.Value)
	}
}

func appendPlain(b []byte, o *answer.HeapObject) []byte {
	b = append(report.AppendHex(b, uint64(o.Address), 16), ' ')
	return fmt.Appendf(report.AppendHex(b, uint64(o.MethodTable), 16), " %8d\n", o.Size)
}

// plainStatistics are statistics by type in the form of SOS's native commands.
func plainStatistics(p *report.Page, list []answer.TypeCount, name func(*answer.TypeCount) string) {
	p.Printf("Statistics:\n%16s %8s %12s %s\n", "MT", "Count", "TotalSize", "Class Name")
	for i := range list {
		e := &list[i]
		p.Printf("%s %8d %12d %s\n", report.Hex16(e.MethodTable), e.Count, e.Size, report.Escape(name(e)))
	}
}

// typeName returns the name of a type. SOS has words of its own for one that is missing.
func typeName(p *report.Page, name answer.Text, mt target.Addr) string {
	if name.Err != nil && p.SOS {
		return fmt.Sprintf("<unknown_type_%x>", uint64(mt))
	}
	return name.String()
}

// Exceptions is the text of dumpexceptions.
func Exceptions(p *report.Page, a *answer.Exceptions) {
	p.Printf("%16s %16s %s %s\n", "Address", "MethodTable", "Message", "Name")
	for e := range report.Each(p, a.Exceptions) {
		message := "<null>"
		if e.Message != nil {
			message = text.Message(p, e.Message.String(), len("        Message: "))
		}
		p.Printf("%16s %16s %s\n        Message: %s\n", report.Hex12(e.Address), report.Hex12(e.MethodTable),
			report.Escape(typeName(p, e.Type, e.MethodTable)), message)
		if !e.Frame.IsZero() {
			p.Printf("        StackFrame: %s\n", report.Escape(e.Frame.String()))
		}
	}
	if a.Count.Err() == nil {
		p.Printf("\n    Total: %d objects\n", a.Count.Value)
	}
}

// Unreachable is the text of notreachableinrange.
func Unreachable(p *report.Page, u *answer.Unreachable, o ListingOptions) {
	if p.SOS {
		sosUnreachable(p, u, o)
		return
	}
	Listing(p, &u.Listing, o)
	if !o.Short && len(u.Others) > 0 {
		p.Printf("%s of the %s words are no addresses of objects\n", report.Commas(uint64(len(u.Others))), report.Commas(u.Words))
	}
}

// sosUnreachable writes SOS's form. Words that are not addresses of objects are listed among the objects, each with a
// warning. The statistics count only objects.
func sosUnreachable(p *report.Page, u *answer.Unreachable, o ListingOptions) {
	t := objectTable(p)
	others, begun := u.Others, false
	row := func(a uint64, cells ...any) {
		switch {
		case o.Short:
			p.Printf("%012x\n", a)
		default:
			if !begun {
				p.Fail(t.Header())
			}
			p.Fail(t.Row(append([]any{a}, cells...)...))
		}
		begun = true
	}
	words := func(before int) {
		for ; len(others) > 0 && others[0].After <= before; others = others[1:] {
			v := uint64(others[0].Value)
			p.Printf("Warning: %x is not a valid object\n", v)
			row(v, "", "", "")
		}
	}
	i := 0
	for object, err := range u.Objects.All() {
		if err != nil {
			p.Fail(err)
			return
		}
		words(i)
		row(uint64(object.Address), uint64(object.MethodTable), object.Size, note(&object))
		i++
	}
	words(i)
	if u.Statistics != nil && !o.Short {
		statistics(p, u.Statistics, begun)
	}
}

// Closure is the text of objsize.
func Closure(p *report.Page, x *answer.Closure, o ListingOptions) {
	if p.SOS || !o.Short {
		p.Printf("Objects which %s transitively keep alive:\n\n", closureOf(p, x))
	}
	Listing(p, &x.Listing, o)
	if x.Retained != nil && !p.SOS && !o.Short {
		p.Printf("%s bytes of them would be free without it\n", report.Commas(*x.Retained))
	}
}

// closureOf returns the object, or the type, in words.
func closureOf(p *report.Page, x *answer.Closure) string {
	switch {
	case x.Object != nil:
		return fmt.Sprintf("%x (%s)", uint64(x.Object.Address), typeName(p, x.Object.Type, x.Object.MethodTable))
	case p.SOS:
		return fmt.Sprintf("(%s)", report.Escape(x.Of.Type.String()))
	}
	return fmt.Sprintf("the %s objects of %s", report.Commas(x.Of.Count), report.Escape(x.Of.Type.String()))
}
