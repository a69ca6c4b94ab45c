package processtext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// knownSecrets counts the values known as secrets.
func knownSecrets(p *report.Page, s *answer.Secrets) {
	p.Printf("Secrets:        %d known values, which --redact masks\n", s.Values)
	for _, k := range s.Kinds {
		p.Printf("                %d: %s\n", k.Values, report.Escape(k.Kind))
	}
}
