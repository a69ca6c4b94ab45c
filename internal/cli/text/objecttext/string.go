package objecttext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// String is the text of dumpstring: safe for a terminal, with a line feed at the
// end.
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

// RawString is the text of dumpstring -raw: as it is.
func RawString(p *report.Page, s *answer.String) {
	p.Fail(s.Text.StreamText(func(part string) error {
		p.Print(part)
		return p.Err()
	}))
}
