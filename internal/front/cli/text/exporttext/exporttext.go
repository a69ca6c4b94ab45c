// Package exporttext writes the results of exports, and the one-line summary of a dump. It receives answers and
// cannot read a dump.
package exporttext

import (
	"encoding/json"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
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

// Fleet describes what became of dumps that were to be added, or what was put together.
func Fleet(p *report.Page, v *answer.FleetDone) {
	fleet := report.Escape(v.Fleet)
	if x := v.Compacted; x != nil {
		p.Printf("%s: %d parts of %s were put together; %d files, before %d\n", fleet, x.Parts, answer.Count(x.Dates, "day", "days"), x.After, x.Before)
	}
	x := v.Added
	if x == nil {
		return
	}
	p.Printf("%s: %s added, %d already there, %d failed", fleet, answer.Count(x.Added, "dump", "dumps"), x.Present, len(x.Failures))
	if x.Retry > 0 {
		p.Printf(" (%d because of this machine, a server or a limit: the next run tries them again)", x.Retry)
	}
	if x.Before > 0 {
		p.Printf(", %d failed before and were left out (-again tries them)", x.Before)
	}
	if x.Others > 0 {
		p.Printf("; %s no dump", answer.Count(x.Others, "file is", "files are"))
	}
	p.Printf("; %.1f s\n", x.Seconds)
	for i := range x.Failures {
		f := &x.Failures[i]
		p.Printf("  %s: %s\n", report.Escape(f.File), report.Escape(f.Reason))
	}
}

// RulesTrial shows what rules merge and split.
func RulesTrial(p *report.Page, v *answer.RulesTrial) {
	if v.Text != "" {
		p.Print(v.Text)
		return
	}
	what := answer.Count(v.Dumps, "crash", "crashes")
	if v.Findings > 0 {
		what += " and " + answer.Count(v.Findings, "finding", "findings")
	}
	p.Printf("%s; %d get another signature; %d signatures, before %d\n", what, v.Changed, v.After, v.Before)
	for _, group := range []struct {
		words string
		list  []answer.RulesChange
	}{{"merge", v.Merged}, {"split", v.Split}} {
		for i := range group.list {
			x := &group.list[i]
			p.Printf("\n%s %s (%d)  %s\n", group.words, x.One.Signature, x.One.Dumps, report.Escape(strings.Join(x.One.SignatureParts, "; ")))
			for k := range x.Several {
				s := &x.Several[k]
				p.Printf("  %s (%d)  %s\n", s.Signature, s.Dumps, report.Escape(strings.Join(s.SignatureParts, "; ")))
			}
		}
	}
}
