package processtext

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
)

// Runtimes is the text of runtimes. Of several, the chosen one has a mark.
func Runtimes(p *report.Page, list []answer.Runtime) {
	for i := range list {
		switch {
		case len(list) < 2:
		case list[i].Chosen:
			p.Print("*")
		default:
			p.Print(" ")
		}
		runtime(p, &list[i])
	}
}

// ChosenRuntime is the text of setruntime.
func ChosenRuntime(p *report.Page, list []answer.Runtime) {
	for i := range list {
		p.Printf("Switched to runtime #%d successfully\n", list[i].Index)
	}
}

func runtime(p *report.Page, r *answer.Runtime) {
	flavor, label := r.Flavor, "Runtime"
	if r.SingleFile {
		flavor, label = flavor+" (single-file)", "Single-file runtime"
	}
	p.Printf("#%d %s runtime %s at %016x size %08x index %s\n", r.Index, flavor, orNone(report.Escape(r.Version)), uint64(r.Address), r.Size, r.Identity)
	p.Printf("    %s module path: %s\n", label, report.Escape(r.Path))
	exports(p, r.Exports)
}

func exports(p *report.Page, list []answer.Export) {
	p.Print("    Exports:\n")
	for _, e := range list {
		at := "<NO SYMBOL>"
		if e.Address != 0 {
			at = report.Hex16(e.Address)
		}
		p.Printf("        %s: %s\n", e.Name, at)
	}
}

// orNone is s, or <none> in its place.
func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

// EEVersion is the text of eeversion.
func EEVersion(p *report.Page, v *answer.EEVersion) {
	p.Print(orNone(report.Escape(v.Version)))
	if v.Core3 {
		p.Print(" (3.x runtime)")
	}
	p.Print("\n")
	if v.Text != "" {
		p.Printf("%s\n", report.Escape(v.Text))
	}
	switch {
	case v.Server == nil:
		p.Print("GC Heap not initialized, so GC mode is not determined yet.\n")
	case *v.Server:
		p.Printf("Server mode with %d gc heaps\n", v.Heaps)
		if v.DATAS != nil {
			p.Printf("DATAS %d\n", *v.DATAS)
		}
	default:
		p.Print("Workstation mode\n")
	}
	if v.InGC {
		p.Print("In plan phase of garbage collection\n")
	}
}
