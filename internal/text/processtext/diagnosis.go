package processtext

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/report"
)

// DiagnosisOptions change the text of doctor.
type DiagnosisOptions struct {
	Probes bool // all of them, not only those that failed
}

// Diagnosis is the text of doctor.
func Diagnosis(p *report.Page, g *answer.Diagnosis, o DiagnosisOptions) {
	fact(p, "Dump:", "%s, %s, %d bytes%s", g.File, g.Format, g.Size, prefixed(", ", g.Packed))
	fact(p, "System:", "%s %s%s", g.OS, g.Arch, prefixed(", ", g.OSText))
	fact(p, "Process:", "%d%s", g.PID, prefixed(", ", g.Command))
	fact(p, "Holds:", "%d bytes of memory, %d threads, %d modules", g.Stored, g.Threads, g.Modules)
	for _, w := range g.Warnings {
		fact(p, "Warning:", "%s", w)
	}
	if len(g.Runtimes) == 0 {
		fact(p, "Runtime:", "none found: no module exports what a .NET runtime does")
	}
	for i := range g.Runtimes {
		runtimeDiagnosis(p, &g.Runtimes[i], o)
	}
	if len(g.Parts) > 0 {
		p.Print("\n")
	}
	for _, part := range g.Parts {
		fact(p, string(part.Part)+":", "%s: %s", part.State, part.Detail)
		if len(part.Costs) > 0 {
			fact(p, "", "this costs: %s", strings.Join(part.Costs, ", "))
		}
	}
	wantedFiles(p, g.Files)
	if g.Members != nil {
		p.Print("\n")
	}
	for _, m := range g.Members {
		p.Printf("%-50s %-12s %s\n", report.Escape(m.Name), report.Escape(m.Value), report.Escape(m.Source))
	}
}

// fact writes a line of a diagnosis.
func fact(p *report.Page, label, format string, args ...any) {
	p.Printf("%-14s %s\n", label, report.Escape(fmt.Sprintf(format, args...)))
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func wantedFiles(p *report.Page, files []answer.WantedFile) {
	if len(files) > 0 {
		p.Print("\nThese files would help; put them into a folder and name it with --modules, or name a --symbol-server:\n")
	}
	for _, f := range files {
		p.Printf("  %s\n      %s: %s\n", report.Escape(f.Path), report.Escape(f.Identity), report.Escape(f.Why))
		if f.Key != "" {
			p.Printf("      key %s\n", report.Escape(f.Key))
		}
	}
}

func runtimeDiagnosis(p *report.Page, r *answer.RuntimeDiagnosis, o DiagnosisOptions) {
	version, mark := r.Version, ""
	if version == "" {
		version = "of unknown version"
	}
	if r.Chosen {
		mark = " (chosen)"
	}
	p.Print("\n")
	fact(p, fmt.Sprintf("Runtime #%d:", r.Index), "%s %s%s", r.Kind, version, mark)
	fact(p, "", "%s at %016x, %s", r.Path, uint64(r.Base), r.Identity)
	if r.File != "" {
		fact(p, "", "the same file on this machine: %s", r.File)
	} else {
		fact(p, "", "its file was not found on this machine: %v", r.FileErr)
	}
	for _, s := range r.Sources {
		fact(p, "", "layout: %d members from %s", s.Members, s.Source)
	}
	probes(p, r.Probes, o.Probes)
	if r.Error != "" {
		fact(p, "", "not readable: %s", r.Error)
	}
}

// probes counts the probes, and lists those that failed, or all.
func probes(p *report.Page, list []answer.Probe, all bool) {
	counts := map[string]int{}
	for _, probe := range list {
		counts[probe.Result]++
		if all || probe.Result == answer.ProbeFailed {
			fact(p, "", "probe %s: %s: %s", probe.Name, probe.Result, probe.Detail)
		}
	}
	if len(list) > 0 {
		fact(p, "", "probes: %d passed, %d failed, %d not in the dump",
			counts[answer.ProbePassed], counts[answer.ProbeFailed], counts[answer.ProbeNotInDump])
	}
}

// Pack is the text of pack.
func Pack(p *report.Page, a *answer.Pack) {
	p.Printf("%s: the dump and %d module files\n", report.Escape(a.File), len(a.Files))
	for _, m := range a.Missing {
		p.Printf("not found: %s\n", report.Escape(m))
	}
}
