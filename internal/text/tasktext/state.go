package tasktext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
)

// State is the text of taskstate.
func State(p *report.Page, s *answer.TaskState) {
	if p.SOS {
		p.Printf("%s\n\n", s.Status)
		return
	}
	p.Printf("%s", s.Status)
	if len(s.Names) > 0 {
		p.Printf(" (%s)", strings.Join(s.Names, ", "))
	}
	p.Print("\n")
}
