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
	if s.ID.Err == nil && s.ID.Value != 0 {
		p.Printf("id %d\n", s.ID.Value)
	}
	if s.Result != "" {
		p.Printf("result: %s\n", report.Escape(s.Result))
	}
	for i := range s.Exceptions {
		x := &s.Exceptions[i]
		p.Printf("%s %s: %s\n", report.Hex12(x.Object), report.Escape(x.Type.String()), report.Escape(x.Message.String()))
	}
	switch {
	case s.Observed:
		p.Print("somebody has looked at why it failed\n")
	case len(s.Exceptions) > 0:
		p.Print("nobody has looked at why it failed\n")
	}
	if s.CancellationSource != 0 {
		p.Printf("made with a cancellation token of %s\n", report.Hex12(s.CancellationSource))
	}
}
