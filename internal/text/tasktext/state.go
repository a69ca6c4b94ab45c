package tasktext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/text"
	"github.com/sosgo/sosgo/report"
)

// State is the text of taskstate.
func State(p *report.Page, s *answer.TaskState) {
	if p.SOS {
		p.Printf("%s\n\n", s.Status)
		return
	}
	text.TaskState(p, s)
}
