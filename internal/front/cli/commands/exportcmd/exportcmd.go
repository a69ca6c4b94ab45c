// Package exportcmd holds the commands that write data for other tools, and the summary of a dump in one line. Each
// turns its options into a call of the library and names the encoder of the answer. It computes nothing itself. Start
// with Commands.
package exportcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/summary"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/exporttext"
)

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupExport, exportCommand(), scrubCommand(), shrinkCommand(), summarizeCommand(), fleetCommand(), signatureCommand())
}

type summaryOptions struct {
	NoHeap bool          `opt:"noheap" help:"leave the heap out: sizes, suspects, and an exception from before Main ran"`
	Rules  ask.RulesFile `opt:"rules" kind:"file" value:"FILE" help:"sign the crash by these rules; \"signature rules\" prints the default"`
	cli.Sent
	cli.DumpFile
}

func summarizeCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "summarize", DumpArg: true, Sends: true,
		Summary: "summarize a dump in one line of JSON for crash pipelines: signature, reason, top frame, suspects, sizes",
		Help: "The line is the result that --json prints in its envelope. Signatures hold across dumps: that of a crash is made of the type of the " +
			"exception (or the signal) and the innermost five methods of the program itself, that of a suspect of its kind, its types and what keeps it " +
			"alive, without addresses. What could not be read is absent, and missing counts it. -noheap skips the heap, which takes most of the time of " +
			"a large dump.",
		Examples: []cli.Example{
			{Line: "summarize core.4711", Text: "one line for the log of a pipeline"},
		},
	}, func(c *cli.Context, o *summaryOptions) (*answer.Summary, error) {
		rules, err := o.Rules.Read()
		if err != nil {
			return nil, err
		}
		return summary.Summary(ask.Context(c), ask.View(c), summary.Options{NoHeap: o.NoHeap, Rules: rules})
	}, exporttext.Summary)
}
