package objecttext

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
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

// shownChars is how much of a string stands beside it.
const shownChars = 64

// objects writes a list of objects, which may be nil: a table, or their
// addresses alone. It reports whether there were any.
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

// objectTable returns the table of objects: the text of the last column says Free,
// and in sosgo's own form what a string says.
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

// quoted is strconv.Quote, faster for what needs no escapes: there are millions of strings.
func quoted(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.Quote(s)
		}
	}
	return `"` + s + `"`
}

// statistics writes what was counted by type; behind a list an empty line comes
// first.
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
	p.Fail(list.Format(func() answer.AppendStringCount { return stringRow(p.SOS) }, func(rows []byte) error {
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
func stringRow(sos bool) answer.AppendStringCount {
	var out appender
	t := report.NewTable(&out, report.Column{Kind: report.Integer}, report.Column{Kind: report.Integer}, report.Column{Kind: report.Text})
	return func(b []byte, s *answer.StringCount) []byte {
		out.b = b
		t.Uint(s.Count)
		t.Uint(s.Size)
		t.Text(content(sos, s.Text))
		_ = t.End() // an appender takes everything
		return out.b
	}
}

func content(sos bool, t answer.Text) string {
	switch {
	case t.Err != nil:
		return t.String()
	case sos:
		return sosString(t.S)
	}
	return report.CutEnd(t.S, stringWidth)
}

// sosString returns a string as SOS prints it: letters and digits alone stay as they
// are, others are cut, and lose what is neither letter, digit, punctuation nor
// space.
func sosString(s string) string {
	plain := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	r := []rune(s)
	r = r[:min(len(r), sosStringWidth)]
	for i, c := range r {
		if !plain(c) && !unicode.IsPunct(c) && !unicode.Is(unicode.Zs, c) {
			r[i] = '.'
		}
	}
	return string(r)
}
