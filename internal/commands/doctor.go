package commands

import (
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/diagnosis"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

type doctorResult struct {
	File     string          `json:"file,omitempty" doc:"the dump's file"`
	Format   string          `json:"format" doc:"the container"`
	Packed   string          `json:"compressed,omitempty" doc:"how the file was compressed"`
	Size     int64           `json:"size" doc:"bytes of the dump, unpacked"`
	OS       string          `json:"os" doc:"operating system of the process"`
	OSText   string          `json:"osVersion,omitempty" doc:"its version, as the dump words it"`
	Arch     string          `json:"arch" doc:"processor architecture"`
	PID      uint32          `json:"pid,omitempty" doc:"process id"`
	Command  string          `json:"command,omitempty" doc:"executable or command line"`
	Threads  int             `json:"threads" doc:"OS threads"`
	Modules  int             `json:"modules" doc:"images that were mapped"`
	Stored   uint64          `json:"stored" doc:"bytes of the process's memory in the dump"`
	Runtimes []doctorRuntime `json:"runtimes" doc:"the .NET runtimes in the process"`
	Parts    []doctorPart    `json:"parts,omitempty" doc:"what is there of the process"`
	Files    []doctorFile    `json:"files,omitempty" doc:"module files that would help"`
	Warnings []string        `json:"dumpWarnings,omitempty" doc:"what reading the container had to skip or to decide"`
}

type doctorRuntime struct {
	Index    int            `json:"index" doc:"number for --runtime"`
	Chosen   bool           `json:"chosen" doc:"the commands look at this one"`
	Kind     string         `json:"kind" doc:"\".NET Core\" or \"NativeAOT\""`
	Version  string         `json:"version,omitempty" doc:"as far as it is known"`
	Path     string         `json:"path" doc:"the runtime's library"`
	Base     report.Address `json:"base" doc:"where it was loaded"`
	Identity string         `json:"identity" doc:"what tells this build from others"`
	File     string         `json:"localFile,omitempty" doc:"the same library on this machine"`
	Sources  []doctorSource `json:"layout,omitempty" doc:"what the structures are read with, in the order of belief"`
	Probes   []doctorProbe  `json:"probes,omitempty" doc:"checks of the layout against the process"`
	Error    string         `json:"error,omitempty" doc:"why the runtime could not be opened"`
}

type doctorSource struct {
	Source  string `json:"source" doc:"a descriptor or a table"`
	Members int    `json:"members" doc:"members of structures that were taken from it"`
}

type doctorProbe struct {
	Name   string `json:"name" doc:"what was checked"`
	Result string `json:"result" doc:"\"passed\", \"failed\" or \"not in the dump\""`
	Detail string `json:"detail,omitempty" doc:"what was found"`
}

type doctorPart struct {
	Name   string   `json:"name" doc:"a part of the process"`
	State  string   `json:"state" doc:"\"whole\", \"in part\", \"missing\" or \"unreadable\""`
	Detail string   `json:"detail,omitempty" doc:"how much of it is there"`
	Costs  []string `json:"costs,omitempty" doc:"commands that can't answer, or only in part"`
}

type doctorFile struct {
	Path     string `json:"path" doc:"the module, as the dump names it"`
	Identity string `json:"identity" doc:"what the file must be"`
	Key      string `json:"key,omitempty" doc:"under which symbol servers keep it"`
	Why      string `json:"why" doc:"what it would supply"`
}

func doctorCommand() cli.Command {
	return cli.Command{
		Name: "doctor", Aliases: []string{"info"}, Group: cli.GroupProcess, NeedsDump: true, DumpArg: true,
		Summary: "say what the dump holds, how it is read, what is missing and what would help",
		Help: "Attach this output to a report of a problem: it has the container, the system, the builds of the runtimes, the sources of their " +
			"layouts, the probes, and what the dump lacks, but nothing of the process's data.",
		Args:     []cli.Arg{{Name: "file", Kind: cli.File, Optional: true, Summary: "the dump"}},
		Options:  []cli.Option{{Name: "probe", Summary: "list every probe"}, {Name: "members", Summary: "list every member of the layout with its source"}},
		Examples: []cli.Example{{Line: "doctor core.1234", Text: "everything about a dump that does not open as it should"}},
		Result:   []report.Part{report.Whole[doctorResult]()},
		Run:      runDoctor,
	}
}

func runDoctor(c *cli.Context) error {
	g := viewOf(c).Diagnose()
	if e := c.JSON(); e != nil {
		return e.Value(doctorJSON(g))
	}
	printDoctor(c, g)
	if c.Bool("members") {
		return printMembers(c)
	}
	return nil
}

// costs are the commands that can't answer, or only in part, where a part of the
// process is missing.
func costs(p *diagnosis.PartDiagnosis) []string {
	if p.State == diagnosis.PartWhole {
		return nil
	}
	switch p.Part {
	case diagnosis.PartHeap:
		return []string{"dumpheap", "dumpobj", "dumparray", "dumpstring", "gcwhere", "eeheap -gc", "dumpgen", "gcheapstat"}
	case diagnosis.PartStacks:
		return []string{"clrstack", "dumpstackobjects", "parallelstacks"}
	case diagnosis.PartMetadata:
		return []string{"name2ee", "dumpmt", "dumpobj", "dumpheap", "clrstack", "dumpil"}
	case diagnosis.PartCode:
		return []string{"clrstack", "ip2md", "parallelstacks", "printexception"}
	}
	return nil
}

func doctorJSON(g *diagnosis.Diagnosis) doctorResult {
	r := doctorResult{
		File: g.File.Path, Format: g.File.Format, Packed: g.File.Compressed, Size: g.File.Size, OS: g.Platform.OS.String(),
		OSText: g.Platform.OSVersion, Arch: g.Platform.Arch.String(), PID: g.Process.ID, Command: g.Process.Command,
		Threads: g.Threads, Modules: g.Modules, Stored: g.Stored,
	}
	for i := range g.Runtimes {
		r.Runtimes = append(r.Runtimes, doctorRuntimeJSON(&g.Runtimes[i]))
	}
	for _, p := range g.Parts {
		r.Parts = append(r.Parts, doctorPart{p.Part.String(), p.State.String(), p.Detail, costs(&p)})
	}
	for _, f := range g.Files {
		r.Files = append(r.Files, doctorFile(f))
	}
	for _, w := range g.Warnings {
		r.Warnings = append(r.Warnings, w.Error())
	}
	return r
}

func doctorRuntimeJSON(d *diagnosis.RuntimeDiagnosis) doctorRuntime {
	inst := d.Instance
	r := doctorRuntime{
		Index: inst.Index, Chosen: d.Chosen, Kind: inst.Flavor.String(), Version: inst.Version(), Path: inst.Module.Path,
		Base: report.Address(inst.Module.Base), Identity: inst.Identity.String(), File: d.File,
	}
	for _, s := range d.Sources {
		r.Sources = append(r.Sources, doctorSource{s, d.Members[s]})
	}
	for _, p := range d.Probes {
		r.Probes = append(r.Probes, doctorProbe{p.Name, p.Result.String(), p.Detail})
	}
	if d.Err != nil {
		r.Error = d.Err.Error()
	}
	return r
}

func printDoctor(c *cli.Context, g *diagnosis.Diagnosis) {
	line := func(label, format string, args ...any) {
		c.Printf("%-14s %s\n", label, report.Escape(fmt.Sprintf(format, args...)))
	}
	line("Dump:", "%s, %s, %d bytes%s", g.File.Path, g.File.Format, g.File.Size, prefixed(", ", g.File.Compressed))
	line("System:", "%s %s%s", g.Platform.OS, g.Platform.Arch, prefixed(", ", g.Platform.OSVersion))
	line("Process:", "%d%s", g.Process.ID, prefixed(", ", g.Process.Command))
	line("Holds:", "%d bytes of memory, %d threads, %d modules", g.Stored, g.Threads, g.Modules)
	for _, w := range g.Warnings {
		line("Warning:", "%v", w)
	}
	if len(g.Runtimes) == 0 {
		line("Runtime:", "none found: no module exports what a .NET runtime does")
	}
	for i := range g.Runtimes {
		printDoctorRuntime(c, &g.Runtimes[i], line)
	}
	if len(g.Parts) > 0 {
		c.Printf("\n")
	}
	for _, p := range g.Parts {
		line(p.Part.String()+":", "%s: %s", p.State, p.Detail)
		if costs := costs(&p); len(costs) > 0 {
			line("", "this costs: %s", strings.Join(costs, ", "))
		}
	}
	if len(g.Files) > 0 {
		c.Printf("\nThese files would help; put them into a folder and name it with --modules, or name a --symbol-server:\n")
	}
	for _, f := range g.Files {
		c.Printf("  %s\n      %s: %s\n", report.Escape(f.Path), report.Escape(f.Identity), report.Escape(f.Why))
		if f.Key != "" {
			c.Printf("      key %s\n", report.Escape(f.Key))
		}
	}
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func printDoctorRuntime(c *cli.Context, d *diagnosis.RuntimeDiagnosis, line func(string, string, ...any)) {
	inst := d.Instance
	mark := ""
	if d.Chosen {
		mark = " (chosen)"
	}
	version := inst.Version()
	if version == "" {
		version = "of unknown version"
	}
	c.Printf("\n")
	line(fmt.Sprintf("Runtime #%d:", inst.Index), "%s %s%s", inst.Flavor, version, mark)
	line("", "%s at %016x, %s", inst.Module.Path, uint64(inst.Module.Base), inst.Identity)
	if d.File != "" {
		line("", "the same file on this machine: %s", d.File)
	} else {
		line("", "its file was not found on this machine: %v", d.FileErr)
	}
	for _, s := range d.Sources {
		line("", "layout: %d members from %s", d.Members[s], s)
	}
	counts := map[dac.ProbeResult]int{}
	for _, p := range d.Probes {
		counts[p.Result]++
		if p.Result == dac.ProbeFailed || c.Bool("probe") {
			line("", "probe %s: %s: %s", p.Name, p.Result, p.Detail)
		}
	}
	if len(d.Probes) > 0 {
		line("", "probes: %d passed, %d failed, %d not in the dump", counts[dac.ProbePassed], counts[dac.ProbeFailed], counts[dac.ProbeNotInDump])
	}
	if d.Err != nil {
		line("", "not readable: %v", d.Err)
	}
}

// printMembers lists the layout of the chosen runtime.
func printMembers(c *cli.Context) error {
	rt, err := runtimeOf(c)
	if err != nil {
		return err
	}
	c.Printf("\n")
	for _, m := range rt.Layout().Members() {
		c.Printf("%-50s %-12s %s\n", report.Escape(m.Name), report.Escape(m.Value), report.Escape(m.Source))
	}
	return nil
}
