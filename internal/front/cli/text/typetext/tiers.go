package typetext

import (
	"fmt"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli/text"
	"github.com/sosgo/sosgo/internal/front/report"
)

// Tiers is the text of tiers.
func Tiers(p *report.Page, a *answer.Tiers) {
	p.Printf("%s compiled, %s still in the first tier", text.Count(uint64(a.Methods), "method was", "methods were"), text.Count(uint64(a.Waiting), "is", "are"))
	if a.Unknown > 0 {
		p.Printf("; the tier of %s is unknown", text.Count(uint64(a.Unknown), "other", "others"))
	}
	p.Print("\n")
	if len(a.Tiers) > 0 {
		t := p.Table(report.Column{Name: "Bodies", Kind: report.Integer, Width: 8}, report.Column{Name: "Active", Kind: report.Integer, Width: 8},
			report.Column{Name: "Bytes", Kind: report.Integer, Width: 10}, report.Column{Name: "Tier", Kind: report.Text})
		p.Fail(t.Header())
		for i := range a.Tiers {
			r := &a.Tiers[i]
			p.Fail(t.Row(r.Bodies, r.Active, r.Bytes, r.Tier))
		}
	}
	for i := range a.Replaced {
		m := &a.Replaced[i]
		state := "not active"
		if m.Active {
			state = "active"
		}
		p.Printf("%s %s: IL of a profiler, ReJIT %d, code %s, %s\n", report.Hex12(m.Method), report.Escape(m.Name.String()), m.ReJIT, report.Hex12(m.Code), state)
	}
	for i := range a.Versions {
		v := &a.Versions[i]
		state := v.State
		switch {
		case v.Active:
			state += ", active"
		case v.Reverted:
			state += ", reverted: calls run the original IL"
		default:
			state += ", not active: a later version is"
		}
		name := v.Name.String()
		if name == "" {
			name = fmt.Sprintf("method %08x", v.Token)
		}
		p.Printf("%s ReJIT %d of %s: %s\n", report.Hex12(v.Node), v.ReJIT, report.Escape(name), report.Escape(state))
	}
	if !a.VersionsMissing.IsZero() {
		p.Printf("requests of ReJIT: %s\n", answer.Absent(a.VersionsMissing.Err))
	}
}
