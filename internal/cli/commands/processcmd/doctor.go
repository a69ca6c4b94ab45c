package processcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/report"
)

type doctorOptions struct {
	cli.DumpFile
	Probe   bool `opt:"probe" help:"list every probe"`
	Members bool `opt:"members" help:"list every member of the layout with its source"`
}

func doctorCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "doctor", Aliases: []string{"info"}, DumpArg: true,
		Summary: "describe the dump: what it contains, how it is read, what is missing and what would help",
		Help: "Attach this output to a report of a problem: it has the container, the system, the builds of the runtimes, the sources of their " +
			"layouts, the probes and the missing parts, but none of the process's data.",
		Examples: []cli.Example{{Line: "doctor core.1234", Text: "everything about a dump that does not open as it should"}},
	}, askDoctor, func(p *report.Page, g *answer.Diagnosis, o *doctorOptions) {
		processtext.Diagnosis(p, g, processtext.DiagnosisOptions{Probes: o.Probe})
	})
}

func askDoctor(c *cli.Context, o *doctorOptions) (*answer.Diagnosis, error) {
	g := ask.View(c).Diagnose(o.Members)
	for i := range g.Parts {
		g.Parts[i].Costs = costs(&g.Parts[i])
	}
	return g, nil
}

// costs returns the commands that can't answer, or only in part, where a part of the
// process is missing.
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
