package exporttext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Scrub describes what was replaced, and what stays.
func Scrub(p *report.Page, v *answer.Scrubbed) {
	p.Printf("%s: %d bytes of a dump of %d bytes\n", report.Escape(v.File), v.Written, v.Size)
	for _, k := range v.Kinds {
		p.Printf("  replaced %15d bytes  %s\n", k.Bytes, k.Kind)
	}
	p.Printf("%d values known as secrets were looked for in the whole file.\n", v.Secrets)
	p.Print("Not replaced: names of types, methods, modules and files, code, and numbers in fields without -numbers (see docs/scrub.md).\n")
}
