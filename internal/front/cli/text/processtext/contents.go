package processtext

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// dumpContents lists what a dump holds.
func dumpContents(p *report.Page, c *answer.DumpContents) {
	heading := func(n int, title string) bool {
		if n > 0 {
			p.Printf("\n%s (%d):\n", title, n)
		}
		return n > 0
	}
	heading(len(c.Auxv), "Auxiliary vector")
	for _, e := range c.Auxv {
		name := e.Name
		if name == "" {
			name = fmt.Sprint(e.Tag)
		}
		p.Printf("  %-18s %#x\n", name, uint64(e.Value))
	}
	if heading(len(c.Environment), "Environment variables") {
		for _, v := range c.Environment {
			p.Printf("  %s%s\n", report.Escape(v.Name), report.Escape(prefixed("=", v.Value)))
		}
	}
	if heading(len(c.Unloaded), "Unloaded modules") {
		for _, m := range c.Unloaded {
			p.Printf("  %016x %10s  %s\n", uint64(m.Base), report.Size(m.Size), report.Escape(m.Path))
		}
	}
	if heading(len(c.Regions), "Regions of memory") {
		for _, r := range c.Regions {
			p.Printf("  %016x %10s %10s stored  %s  %-7s %s\n", uint64(r.Start), report.Size(r.Size), report.Size(r.Stored), r.Access, report.Escape(string(r.Kind)), report.Escape(r.Path))
		}
	}
}
