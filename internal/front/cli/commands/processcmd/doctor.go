package processcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/doctor"
	"github.com/sosgo/sosgo/internal/app/sensitive"
	"github.com/sosgo/sosgo/internal/export/pack"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/front/report"
)

type doctorOptions struct {
	cli.DumpFile
	Probe   bool `opt:"probe" help:"list every probe"`
	Files   bool `opt:"files" help:"list every module file that was refused"`
	Content bool `opt:"contents" help:"list what the dump holds beside memory: auxiliary vector, environment variables, unloaded modules, regions"`
	Secrets bool `opt:"secrets" help:"count the values known as secrets, which --redact masks; reads the heap"`
	doctor.Options
}

func doctorCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "doctor", Aliases: []string{"info"}, DumpArg: true,
		Summary: "describe the dump: what it contains, how it is read, what is missing and what would help",
		Help: "Attach this output to a report of a problem: it has the container, the system, the builds of the runtimes, the sources of their " +
			"layouts, the probes and the missing parts, but none of the process's data. Environment variables have names alone, but for the runtime's.",
		Examples: []cli.Example{{Line: "doctor core.1234", Text: "everything about a dump that does not open as it should"}},
	}, askDoctor, func(p *report.Page, g *answer.Diagnosis, o *doctorOptions) {
		processtext.Diagnosis(p, g, processtext.DiagnosisOptions{Probes: o.Probe, Refused: o.Files})
	})
}

func askDoctor(c *cli.Context, o *doctorOptions) (*answer.Diagnosis, error) {
	g := doctor.Of(ask.View(c), o.Options)
	if o.Content {
		g.Held = doctor.Contents(ask.Dump(c).File())
	}
	if o.Secrets {
		known, err := sensitive.Secrets(ask.Context(c), ask.View(c))
		if err != nil {
			return nil, err
		}
		g.NoteAll(known.Noted())
		g.Secrets = known
	}
	for i := range g.Parts {
		g.Parts[i].Costs = costs(&g.Parts[i])
	}
	return g, nil
}

// costs returns the commands that fail or answer only in part if a part of the process is missing.
func costs(p *answer.PartDiagnosis) []string {
	if p.State == answer.PartWhole {
		return nil
	}
	switch p.Part {
	case answer.PartHeap:
		return []string{"dumpheap", "dumpobj", "dumparray", "dumpstring", "gcwhere", "eeheap -gc", "dumpgen", "gcheapstat"}
	case answer.PartStacks:
		return []string{"clrstack", "dumpstackobjects", "parallelstacks"}
	case answer.PartMetadata:
		return []string{"name2ee", "dumpmt", "dumpobj", "dumpheap", "clrstack", "dumpil"}
	case answer.PartCode:
		return []string{"clrstack", "ip2md", "parallelstacks", "printexception"}
	}
	return nil
}

type packOptions struct {
	Out     string `opt:"o,out" kind:"file" value:"FILE" required:"true" help:"the archive to write; it must not exist"`
	Scrub   bool   `opt:"scrub" help:"replace the texts and the data of the process, and include no module file except .NET's own"`
	Shrink  bool   `opt:"shrink" help:"leave out what does not help to explain the process"`
	Numbers bool   `opt:"numbers" requires:"scrub" help:"with -scrub: blank numbers, dates and ids of the program's own types, too"`
}

func packCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "pack",
		Summary: "pack the dump and its module files into one archive",
		Help: "The archive (.tar.zst) is a dump that sosgo opens like any other, and that is complete on every machine. " +
			"Module files are looked for in --modules, at their recorded paths, in the installed .NET, NuGet's folder and symbol caches, " +
			"and on a --symbol-server; only files verified to be those of the process are included. \"pack -scrub -shrink\" makes a small archive " +
			"for those who may see the program but not its data (see scrub and shrink), without files of the program itself, and lists what went in, what " +
			"was left out, and what a receiver can answer.",
		Examples: []cli.Example{
			{Line: "pack -o crash.tar.zst --modules ./publish", Text: "a dump that can be sent as one file"},
			{Line: "pack -scrub -shrink -o incident.tar.zst", Text: "one without data of the process, to be sent to others"},
		},
	}, askPack, processtext.Pack)
}

func askPack(c *cli.Context, o *packOptions) (*answer.Pack, error) {
	if err := c.MayWrite(); err != nil {
		return nil, err
	}
	return pack.Write(c.Context(), ask.Dump(c), o.Out, pack.Options{Scrub: o.Scrub, Shrink: o.Shrink, Numbers: o.Numbers,
		Progress: func(step string) func(done, total uint64) { return c.Progress(step).Set }})
}
