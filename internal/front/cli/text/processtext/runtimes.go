package processtext

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
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
	version := r.Version
	if p.SOS {
		version = r.File
	}
	p.Printf("#%d %s runtime %s at %016x size %08x index %s\n", r.Index, flavor, orNone(report.Escape(version)), uint64(r.Address), r.Size, r.Identity)
	p.Printf("    %s module path: %s\n", label, report.Escape(r.Path))
	exports(p, r.Exports)
}

func exports(p *report.Page, list []answer.Export) {
	p.Print("    Exports:\n")
	for _, e := range list {
		at := "<NO SYMBOL>"
		switch {
		case e.Address != 0:
			at = report.Hex16(e.Address)
		case e.Err.Err != nil && !p.SOS:
			at = answer.Absent(e.Err.Err)
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

// eeVersion returns the version, or the reason why it is missing.
func eeVersion(p *report.Page, v *answer.EEVersion) string {
	switch {
	case v.Version != "" || p.SOS:
		return orNone(report.Escape(v.Version))
	case errors.Is(v.NoGC.Err, target.ErrUnsupported) && !errors.Is(v.NoGC.Err, answer.ErrNoHeapYet):
		return answer.Absent(target.ErrUnsupported) // NativeAOT: the program has no version of its runtime
	}
	return answer.Absent(target.ErrNotInDump)
}

// EEVersion is the text of eeversion.
func EEVersion(p *report.Page, v *answer.EEVersion) {
	p.Print(eeVersion(p, v))
	switch {
	case v.Release != "" && v.Release != v.Version && !p.SOS:
		p.Printf(" (.NET %s)", report.Escape(v.Release))
	case v.Core3:
		p.Print(" (3.x runtime)")
	}
	p.Print("\n")
	if v.Text != "" {
		p.Printf("%s\n", report.Escape(v.Text))
	}
	switch {
	case v.Server == nil && v.NoGC.Err != nil && !errors.Is(v.NoGC.Err, answer.ErrNoHeapYet) && !p.SOS:
		p.Printf("GC mode %s\n", answer.Absent(v.NoGC.Err))
	case v.Server == nil:
		p.Print("GC Heap not initialized, so GC mode is not determined yet.\n")
	case *v.Server:
		p.Printf("Server mode with %d gc heaps\n", v.Heaps.Value)
		if v.DATAS != nil {
			p.Printf("DATAS %d\n", *v.DATAS)
		}
	default:
		p.Print("Workstation mode\n")
	}
	if answer.Is(v.InGC, true) {
		p.Print("In plan phase of garbage collection\n")
	}
}
