package typetext

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli/text"
	"github.com/sosgo/sosgo/internal/report"
)

// Domains is the text of dumpdomain.
func Domains(p *report.Page, domains iter.Seq2[answer.Domain, error]) {
	for d := range report.Each(p, domains) {
		domain(p, &d)
	}
}

func domain(p *report.Page, d *answer.Domain) {
	title, name := "System Domain:", "None"
	if d.Kind == "application" {
		title, name = "Domain 1:", d.Name.String()
	}
	p.Printf("--------------------------------------\n%-19s %s\n", title, report.Hex16(d.Address))
	for _, h := range d.Heaps {
		p.Printf("%-19s %s\n", h.Kind+":", report.Hex16(h.Address))
	}
	p.Printf("Stage:              OPEN\nName:               %s\n", report.Escape(name))
	for i := range d.Assemblies {
		if i > 0 {
			p.Print("\n")
		}
		assemblyInDomain(p, &d.Assemblies[i])
	}
	if len(d.Assemblies) > 0 {
		p.Print("\n")
	}
}

func assemblyInDomain(p *report.Page, a *answer.Assembly) {
	dynamic := ""
	if a.Dynamic {
		dynamic = " (Dynamic)"
	}
	p.Printf("Assembly:           %s%s [%s]\n", report.Hex16(a.Assembly), dynamic, report.Escape(a.Path.String()))
	assemblyModule(p, a)
}

func assemblyModule(p *report.Page, a *answer.Assembly) {
	p.Printf("  Module\n  %s    %s\n", report.Hex16(a.Module), report.Escape(a.Name.String()))
}

// Assembly is the text of dumpassembly.
func Assembly(p *report.Page, a *answer.Assembly) {
	name := a.Path.String()
	if name == "" {
		name = "Unknown"
	}
	p.Printf("Parent Domain:      %s\nName:               %s\n", text.Hex16(a.Domain), report.Escape(name))
	assemblyModule(p, a)
}

// AppDomain is the text of findappdomain.
func AppDomain(p *report.Page, d *answer.AppDomain) {
	p.Printf("AppDomain: %s\nName:      %s\nID:        %d\n", report.Hex16(d.Address), report.Escape(d.Name.String()), d.ID)
}
