package typetext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Signature is the text of dumpsig and dumpsigelem.
func Signature(p *report.Page, s *answer.Signature) { p.Printf("%s\n", report.Escape(s.Signature)) }
