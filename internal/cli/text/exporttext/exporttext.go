// Package exporttext writes what was exported, and the line that sums a dump up.
package exporttext

import (
	"encoding/json"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/report"
)

// Export describes what was written, and where.
func Export(p *report.Page, v *answer.Exported) {
	path := report.Escape(v.Path)
	switch v.Of {
	case "heap":
		p.Printf("%s: %s of %d objects, %d bytes", path, v.Form, v.Objects, v.Size)
		if v.Edges > 0 {
			p.Printf(", %d references, %d types", v.Edges, v.Types)
		}
		if v.Stacks > 0 {
			p.Printf(", %d paths", v.Stacks)
		}
		switch {
		case v.WithGarbage:
			p.Printf("; %d of the objects are garbage", v.Garbage)
		case v.Garbage > 0:
			p.Printf("; %d objects of garbage left out (-garbage adds them)", v.Garbage)
		}
		p.Print("\n")
	case "stacks":
		p.Printf("%s: %s of the stacks of %d threads\n", path, v.Form, v.Stacks)
	default:
		if v.Skipped {
			p.Printf("%s already exists\n", path)
			return
		}
		p.Printf("%s: %d %s files\n", path, len(v.Files), v.Form)
		for _, f := range v.Files {
			p.Printf("  %-24s %12d rows\n", f.Name, f.Rows)
		}
	}
}

// Summary is the dump in one line of JSON.
func Summary(p *report.Page, v *answer.Summary) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	p.Fail(e.Encode(v))
	p.Print(report.EscapeText(b.String()))
}
