package tasktext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
)

// NoTask is said, in the form of SOS's taskstate, of an object that is no task.
func NoTask(p *report.Page) {
	if p.SOS {
		p.Print("Either a valid task address or -v <state value> is expected...\n\n")
	}
}

// State is the text of taskstate.
func State(p *report.Page, s *answer.TaskState) {
	if p.SOS {
		p.Printf("%s\n\n", s.Status)
		return
	}
	text.TaskState(p, s)
}
