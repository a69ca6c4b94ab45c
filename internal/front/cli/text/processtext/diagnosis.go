package processtext

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

// DiagnosisOptions select parts of the text of doctor.
type DiagnosisOptions struct {
	Probes  bool // all probes instead of only the failed ones
	Refused bool // all rejected files instead of only the first
}

// Diagnosis is the text of doctor.
func Diagnosis(p *report.Page, g *answer.Diagnosis, o DiagnosisOptions) {
	fact(p, "Dump:", "%s, %s, %s%s", g.File, g.Format, report.Size(uint64(g.Size)), prefixed(", ", g.Packed))
	fact(p, "System:", "%s %s%s%s%s", g.OS, g.Arch, prefixed(", ", g.OSText), prefixed(", ", g.Distro), prefixed(", ", processors(g)))
	fact(p, "Process:", "%s%s", processID(g.PID), prefixed(", ", g.Command))
	if times := times(g); times != "" {
		fact(p, "Time:", "%s", times)
	}
	if len(g.Counters) > 0 {
		fact(p, "Memory:", "%s", counters(g.Counters))
	}
	for line := range strings.Lines(g.Comment) {
		fact(p, "Comment:", "%s", strings.TrimRight(line, "\r\n"))
	}
	for _, n := range g.Notes {
		fact(p, "Annotation:", "%s%s", strings.Join(named(n.Module, n.Key), ", "), prefixed(": ", n.Value))
	}
	fact(p, "Holds:", "%s, %d threads, %d modules%s", stored(g.Stored), g.Threads, g.Modules, contents(g.Contents))
	if g.LeftOut > 0 {
		fact(p, "Left out:", "%s of memory, by sosgo shrink", report.Size(g.LeftOut))
	}
	if g.InFiles > 0 {
		fact(p, "In files:", "%s of memory that the modules' files have, left out by sosgo shrink", report.Size(g.InFiles))
	}
	for _, w := range g.Warnings {
		fact(p, "Warning:", "%s", w)
	}
	if g.NoMemory != "" {
		fact(p, "Runtime:", "not looked for: %s", g.NoMemory)
	} else if g.Foreign != "" {
		fact(p, "Runtime:", "none that is read: %s", g.Foreign)
	} else if len(g.Runtimes) == 0 {
		fact(p, "Runtime:", "none found: no readable module exports what a .NET runtime does")
	}
	for i := range g.Runtimes {
		runtimeDiagnosis(p, &g.Runtimes[i], o)
	}
	if len(g.Parts) > 0 {
		p.Print("\n")
	}
	parts(p, g.Parts)
	usedFiles(p, g.Used, o.Refused)
	wantedFiles(p, g)
	if g.Secrets != nil {
		knownSecrets(p, g.Secrets)
	}
	if g.Held != nil {
		dumpContents(p, g.Held)
	}
	if g.Members != nil {
		p.Print("\n")
	}
	for _, m := range g.Members {
		p.Printf("%-50s %-12s %s\n", report.Escape(m.Name), report.Escape(m.Value), report.Escape(m.Source))
	}
}

// named returns the nonempty names.
func named(names ...string) []string {
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

func processID(id uint32) string {
	if id == 0 {
		return "id not in the dump"
	}
	return fmt.Sprint(id)
}

func processors(g *answer.Diagnosis) string {
	switch {
	case g.CPUs == 0:
		return g.CPU
	case g.CPUs == 1:
		return "1 processor" + prefixed(" ", g.CPU)
	}
	return fmt.Sprintf("%d processors%s", g.CPUs, prefixed(" ", g.CPU))
}

// times formats the time of the dump and the running time of the process.
func times(g *answer.Diagnosis) string {
	const form = "2006-01-02 15:04:05 UTC"
	var parts []string
	if g.Taken != nil {
		parts = append(parts, "dump written "+g.Taken.UTC().Format(form))
	}
	if g.Started != nil {
		parts = append(parts, "process started "+g.Started.UTC().Format(form))
	}
	if g.User != nil && g.Kernel != nil && *g.User+*g.Kernel > 0 {
		parts = append(parts, fmt.Sprintf("CPU time %g s user, %g s kernel", *g.User, *g.Kernel))
	}
	return strings.Join(parts, ", ")
}

func counters(list []answer.MemoryCounter) string {
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.Name + " " + report.Size(c.Bytes)
	}
	return strings.Join(texts, ", ")
}

func stored(n uint64) string {
	if n == 0 {
		return "no memory"
	}
	return report.Size(n) + " of memory"
}

func contents(list []answer.DumpContent) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, ", %d %s", c.Count, c.Name)
	}
	return b.String()
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

// usedFiles lists the accepted and rejected module files. Unless all is set, it folds the files of a folder into one
// line and lists only the first rejected file.
func usedFiles(p *report.Page, files []answer.ModuleFile, all bool) {
	if len(files) > 0 {
		p.Print("\nModule files:\n")
	}
	if !all {
		files = foldedFiles(p, files)
	}
	refused := 0
	for _, f := range files {
		if f.File == "" && len(f.Refused) > 0 {
			if refused++; refused > 1 && !all {
				continue
			}
		}
		if f.File != "" {
			p.Printf("  %s\n      verified by %s\n", report.Escape(f.File), report.Escape(f.Proof))
		} else {
			p.Printf("  not found: %s\n", report.Escape(f.Path))
		}
		for _, r := range f.Refused {
			p.Printf("      refused: %s\n", report.Escape(r))
		}
	}
	if refused > 1 && !all {
		p.Printf("  %s; -files lists them\n", report.Count(uint64(refused-1), "more module whose files were refused", "more modules whose files were refused"))
	}
}

// foldedFiles writes a line for each folder with several accepted files, and returns the other files. It does not
// fold a file for which another file was rejected.
func foldedFiles(p *report.Page, files []answer.ModuleFile) (rest []answer.ModuleFile) {
	folder := func(f answer.ModuleFile) string {
		if f.File == "" || len(f.Refused) > 0 {
			return ""
		}
		return f.File[:strings.LastIndexAny(f.File, `/\`)+1]
	}
	type group struct {
		files  int
		proofs []string // in the order of their first file
		count  map[string]int
	}
	groups := map[string]*group{}
	var order []string
	for _, f := range files {
		dir := folder(f)
		if dir == "" {
			continue
		}
		g := groups[dir]
		if g == nil {
			g = &group{count: map[string]int{}}
			groups[dir] = g
			order = append(order, dir)
		}
		if g.files++; g.count[f.Proof] == 0 {
			g.proofs = append(g.proofs, f.Proof)
		}
		g.count[f.Proof]++
	}
	folded := false
	for _, dir := range order {
		g := groups[dir]
		if g.files == 1 {
			continue
		}
		folded = true
		parts := make([]string, len(g.proofs))
		for i, proof := range g.proofs {
			parts[i] = fmt.Sprintf("%d by %s", g.count[proof], proof)
		}
		p.Printf("  %s: %d files, verified: %s\n", report.Escape(dir), g.files, report.Escape(strings.Join(parts, ", ")))
	}
	if folded {
		p.Print("  (-files lists each)\n")
	}
	for _, f := range files {
		if dir := folder(f); dir == "" || groups[dir].files == 1 {
			rest = append(rest, f)
		}
	}
	return rest
}

// wantedFiles lists missing files, grouped by reason and folder. Files for which another one was refused are a list of their own: their folder is
// known, and has the wrong file.
func wantedFiles(p *report.Page, g *answer.Diagnosis) {
	refused := map[string]bool{}
	for _, f := range g.Used {
		refused[f.Path] = f.File == "" && len(f.Refused) > 0
	}
	missing, others := []answer.WantedFile(nil), []answer.WantedFile(nil)
	for _, f := range g.Files {
		if refused[f.Path] {
			others = append(others, f)
		} else {
			missing = append(missing, f)
		}
	}
	wantedList(p, "Missing files; pass their folder with --modules, or a --symbol-server that has their keys:", missing)
	wantedList(p, "Refused files; another file of the name is wanted, which --modules or a --symbol-server with its key supplies:", others)
}

func wantedList(p *report.Page, title string, files []answer.WantedFile) {
	if len(files) > 0 {
		p.Print("\n" + title + "\n")
	}
	type group struct{ why, folder string }
	var order []group
	groups := map[group][]answer.WantedFile{}
	for _, f := range files {
		g := group{f.Why, f.Path[:strings.LastIndexAny(f.Path, `/\`)+1]}
		if groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], f)
	}
	for _, g := range order {
		p.Printf("  %s%s:\n", report.Escape(g.why), report.Escape(prefixed(", of ", g.folder)))
		for _, f := range groups[g] {
			id := f.Identity
			if f.Key != "" { // the key contains the identity
				id = "key " + f.Key
			}
			p.Printf("    %s: %s\n", report.Escape(f.Path[len(g.folder):]), report.Escape(id))
		}
	}
}

// contracts writes each unsupported contract and its consequences. If all is set, it lists the supported ones, too.
func contracts(p *report.Page, list []answer.Contract, all bool) {
	read, refused := 0, 0
	for _, c := range list {
		switch {
		case c.Gives != "" && !c.Implemented && c.Version == "":
			refused++
			fact(p, "", "contract %s: the descriptor does not have its version; unavailable: %s", c.Name, c.Gives)
		case c.Gives != "" && !c.Implemented:
			refused++
			fact(p, "", "contract %s: version %s is not implemented; unavailable: %s", c.Name, c.Version, c.Gives)
		case all && c.Gives != "":
			fact(p, "", "contract %s: version %s, for %s", c.Name, c.Version, c.Gives)
		case c.Gives != "":
			read++
		}
	}
	if read > 0 {
		fact(p, "", "contracts: %d read in known versions, %d in unknown ones, %d not needed", read, refused, len(list)-read-refused)
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
	switch {
	case r.File != "":
		fact(p, "", "file: %s%s", r.File, prefixed(", verified by ", r.Proof))
	case errors.Is(r.FileErr, target.ErrCorrupt):
		fact(p, "", "file refused: %v", r.FileErr)
	default:
		fact(p, "", "file not found: %v", r.FileErr)
	}
	switch {
	case r.Candidate:
		fact(p, "", "the catalogue does not have this build; its layout for the version is a candidate: %s", r.Known)
	case r.Known != "":
		fact(p, "", "the catalogue has this build: %s", r.Known)
	}
	if r.DescriptorError != "" {
		fact(p, "", "refused: %s", r.DescriptorError)
	}
	for _, s := range r.Sources {
		fact(p, "", "layout: %d members from %s", s.Members, s.Source)
	}
	contracts(p, r.Contracts, o.Probes)
	if r.Foreign != "" {
		fact(p, "", "no known layout for this version and processor: using that of %s, verified by probes only", r.Foreign)
	}
	if r.Globals != "" {
		fact(p, "", "globals of an unknown build: %s", r.Globals)
	}
	probes(p, r.Probes, o.Probes)
	if r.Error != "" {
		fact(p, "", "not readable: %s", r.Error)
	}
}

// probes counts the probes and lists the failed ones, or all.
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
	what := "the dump"
	switch {
	case a.Scrubbed != nil && a.Shrunk != nil:
		what = "the dump, scrubbed and shrunk,"
	case a.Scrubbed != nil:
		what = "the dump, scrubbed,"
	case a.Shrunk != nil:
		what = "the dump, shrunk,"
	}
	own := ""
	if a.Scrubbed != nil {
		own = " of .NET"
	}
	size := ""
	if a.Size > 0 {
		size = "; " + report.Size(uint64(a.Size))
	}
	p.Printf("%s: %s and %s%s%s\n", report.Escape(a.File), what, report.Count(uint64(len(a.Files)), "module file", "module files"), own, size)
	for _, m := range a.Missing {
		p.Printf("not found: %s\n", report.Escape(m))
	}
	packLeftOut(p, a)
	if a.Others > 0 {
		p.Printf("%s left out: no answer needs the file\n", report.Count(uint64(a.Others), "other image", "other images"))
	}
	if len(a.Receiver) > 0 {
		p.Print("\nWhat a receiver has without any other file:\n")
		parts(p, a.Receiver)
		if a.Scrubbed != nil {
			p.Print("Texts, arrays and the command line are letters in their length. Names of types, methods, modules and files stay (see docs/scrub.md).\n")
		}
		if a.Shrunk != nil {
			p.Print("triage and the commands for crashes, hangs and leaks answer as here; contents of other strings and arrays are left out (see docs/shrink.md).\n")
		}
	}
}

// parts lists what is there of the process.
func parts(p *report.Page, list []answer.PartDiagnosis) {
	for _, part := range list {
		sound := ""
		if part.Part == answer.PartHeap && part.State == answer.PartWhole {
			sound = "; verifyheap checks its objects"
		}
		fact(p, string(part.Part)+":", "%s: %s%s", part.State, part.Detail, sound)
		if len(part.Costs) > 0 {
			fact(p, "", "affects: %s", strings.Join(part.Costs, ", "))
		}
		if part.Advice != "" {
			fact(p, "", "%s", part.Advice)
		}
	}
}

// packLeftOut lists what is not in a pack that was scrubbed or shrunk.
func packLeftOut(p *report.Page, a *answer.Pack) {
	if s := a.Scrubbed; s != nil {
		for _, k := range s.Kinds {
			p.Printf("  replaced %15d bytes  %s\n", k.Bytes, k.Kind)
		}
		p.Printf("  %d values known as secrets were looked for in the whole dump\n", s.Secrets)
	}
	if s := a.Shrunk; s != nil {
		for _, k := range s.Kinds {
			p.Printf("  left out %15d bytes  %s\n", k.Bytes, k.Kind)
		}
	}
	if len(a.Withheld) > 0 {
		var names []string
		for _, m := range a.Withheld {
			names = append(names, report.Escape(target.BaseName(m)))
		}
		p.Printf("  left out the files of %s, which are not .NET's own: %s\n", report.Count(uint64(len(names)), "image", "images"), strings.Join(names, ", "))
	}
}
