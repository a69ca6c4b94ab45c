package threadtext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// States is the text of threadstate.
func States(p *report.Page, s *answer.ThreadStates) {
	for _, words := range s.States {
		p.Printf("    %s\n", words)
	}
}
