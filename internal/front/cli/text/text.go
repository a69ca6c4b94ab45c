// Package text holds what the renderers of several groups share. A renderer receives an answer and a page, and cannot
// read a dump: see the test of import directions in the module's root. Start with Object.
package text

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Hex16 returns an address as SOS prints it, or the word for why it is missing.
func Hex16[T ~uint64](m answer.Maybe[T]) string {
	if m.Err() != nil {
		return answer.Absent(m.Err())
	}
	return report.Hex16(m.Value)
}

// String returns a text, or the word for why it is missing. It is not escaped.
func String(m answer.Maybe[string]) string { return answer.Text{S: m.Value, Err: m.Err()}.String() }

// Message returns a text of the process for behind a label, which ends at column indent. Its further lines begin there, and
// look like no line of sosgo. SOS's form has them as SOS prints them.
func Message(p *report.Page, s string, indent int) string {
	if p.SOS {
		return report.EscapeText(s)
	}
	return report.EscapeLines(s, indent)
}

// pieces writes text that may be part of another object's listing. SOS indents each piece that it writes there, even
// in the middle of a line. With exact set, pieces does the same; otherwise it indents only lines.
type pieces struct {
	page   *report.Page
	indent int // in characters
	exact  bool

	inLine bool
}

func newPieces(p *report.Page, indent int) *pieces {
	return &pieces{page: p, indent: indent, exact: p.SOS}
}

// print writes one piece. Text of the dump has to be escaped before.
func (p *pieces) print(s string) {
	if p.indent > 0 && (p.exact || !p.inLine) {
		p.page.Print(strings.Repeat(" ", p.indent))
	}
	p.page.Print(s)
	p.inLine = !strings.HasSuffix(s, "\n")
}

func (p *pieces) printf(format string, args ...any) { p.print(fmt.Sprintf(format, args...)) }

// label writes a line of the form "Name:        value"; the value is escaped.
func (p *pieces) label(name, value string) { p.printf("%-12s %s\n", name+":", report.Escape(value)) }

// Thread names a thread: its number among the threads of the OS, its OS id, and its name if it has one. The name is not
// escaped.
func Thread(t *answer.Thread) string {
	s := fmt.Sprintf("%#x", t.OSID)
	if t.Index != nil {
		s = fmt.Sprintf("#%d (%s)", *t.Index, s)
	} else if t.OSID == 0 {
		s = fmt.Sprintf("managed %d", t.ManagedID)
	}
	if t.Name != "" {
		s += " " + answer.Quote(t.Name)
	}
	return "thread " + s
}
