package text

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/internal/report"
)

// pieces writes text that may stand inside another object's listing. SOS
// indents each piece that it writes there, also in the middle of a line; with
// exact set so does pieces, and else only lines are indented.
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
