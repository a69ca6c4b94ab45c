package processcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/report"
)

func doctorCommand() cli.Command {
	return cli.Command{
		Name: "doctor", Aliases: []string{"info"}, Group: cli.GroupProcess, NeedsDump: true, DumpArg: true,
		Summary: "say what the dump holds, how it is read, what is missing and what would help",
		Help: "Attach this output to a report of a problem: it has the container, the system, the builds of the runtimes, the sources of their " +
			"layouts, the probes, and what the dump lacks, but nothing of the process's data.",
		Args:     []cli.Arg{{Name: "file", Kind: cli.File, Optional: true, Summary: "the dump"}},
		Options:  []cli.Option{{Name: "probe", Summary: "list every probe"}, {Name: "members", Summary: "list every member of the layout with its source"}},
		Examples: []cli.Example{{Line: "doctor core.1234", Text: "everything about a dump that does not open as it should"}},
		Result:   report.Result[answer.Diagnosis](),
		Ask:      askDoctor,
	}
}

func askDoctor(c *cli.Context) (report.Answer, error) {
	g := ask.View(c).Diagnose(c.Bool("members"))
	for i := range g.Parts {
		g.Parts[i].Costs = costs(&g.Parts[i])
	}
	o := processtext.DiagnosisOptions{Probes: c.Bool("probe")}
	return report.Say(g, func(p *report.Page, g *answer.Diagnosis) { processtext.Diagnosis(p, g, o) }), nil
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
