package memorytext

import (
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// generationWidth is the width of SOS's generation columns. The longest name is Generation0.
const generationWidth = 11

// OldReferences is the text of ephrefs.
func OldReferences(p *report.Page, r *answer.OldReferences) {
	for i := range r.Groups {
		if i > 0 {
			p.Print("\n")
		}
		g := &r.Groups[i]
		from, to := sosGeneration(g.From), sosGeneration(g.To)
		p.Printf("References from %s to %s:\n\n", strings.ToLower(from), strings.ToLower(to))
		t := p.Table(report.Column{Name: "Object", Kind: report.Pointer}, report.Column{Name: "MethodTable", Kind: report.Pointer},
			report.Column{Name: "Size", Kind: report.Integer}, report.Column{Name: "Obj Gen", Kind: report.Text, Width: generationWidth},
			report.Column{Name: "Ref Gen", Kind: report.Text, Width: generationWidth}, report.Column{Name: "Obj Count", Kind: report.Integer},
			report.Column{Name: "Obj Size", Kind: report.Integer}, report.Column{Name: "Type", Kind: report.TypeName})
		t.Header()
		for k := range g.Objects {
			o := &g.Objects[k]
			t.Uint(uint64(o.Address))
			t.Uint(uint64(o.MethodTable))
			t.Uint(o.Size)
			t.Text(from)
			t.Text(to)
			t.Uint(o.Count)
			t.Uint(o.Referenced)
			t.Text(o.Type.String())
			p.Fail(t.End())
		}
	}
	p.Printf("\n%s older generation objects referenced %s younger objects (%s bytes)%s\n", report.Commas(r.Objects), report.Commas(r.Young), report.Commas(r.Size),
		ofWhatIsRead(p, r.Incomplete))
}

// ofWhatIsRead restricts a sentence about the whole heap, which SOS never does.
func ofWhatIsRead(p *report.Page, incomplete bool) string {
	if incomplete && !p.SOS {
		return " in what could be read"
	}
	return ""
}

// pairType is how wide SOS makes the types of all objects of a row but the last.
const pairType = 64

// LargeReferences is the text of ephtoloh.
func LargeReferences(p *report.Page, r *answer.LargeReferences) {
	end := ofWhatIsRead(p, r.Incomplete) + ".\n"
	pairs(p, r.ToLarge, "Ephemeral", "Large Object", "No Ephemeral objects pointing to the Large objects"+end, "Ephemeral objects pointing to the Large objects:\n\n")
	// SOS heads these columns as if the first object were the ephemeral one.
	first, second := "Large Object", "Ephemeral"
	if p.SOS {
		first, second = second, first
	}
	pairs(p, r.FromLarge, first, second, "No Large objects pointing to Ephemeral objects"+end, "Large objects pointing to Ephemeral objects:\n\n")
	if len(r.ToLarge) == 0 || len(r.FromLarge) == 0 {
		return
	}
	if len(r.Through) == 0 {
		p.Print("No Ephemeral objects which point to Large objects which point to Ephemeral objects" + end)
		return
	}
	p.Print("Ephemeral objects which point to Large objects which point to Ephemeral objects:\n\n")
	t := p.Table(report.Column{Kind: report.Pointer}, report.Column{Kind: report.TypeName, Width: pairType}, report.Column{Kind: report.Pointer},
		report.Column{Kind: report.TypeName, Width: pairType}, report.Column{Kind: report.Pointer}, report.Column{Kind: report.TypeName})
	for i := range r.Through {
		x := &r.Through[i]
		name(t, &x.From)
		name(t, &x.Large)
		name(t, &x.To)
		p.Fail(t.End())
	}
	p.Print("\n")
}

func pairs(p *report.Page, list []answer.ObjectPair, first, second, none, heading string) {
	if len(list) == 0 {
		p.Print(none)
		return
	}
	p.Print(heading)
	t := p.Table(report.Column{Name: first, Kind: report.Pointer}, report.Column{Name: first + " Type", Kind: report.TypeName, Width: pairType},
		report.Column{Name: second, Kind: report.Pointer}, report.Column{Name: second + " Type", Kind: report.TypeName})
	t.Header()
	for i := range list {
		name(t, &list[i].From)
		name(t, &list[i].To)
		p.Fail(t.End())
	}
	p.Print("\n")
}

func name(t *report.Table, o *answer.ObjectName) {
	t.Uint(uint64(o.Address))
	t.Text(o.Type.String())
}
