package processcmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/report"
)

func assembliesCommand() cli.Command {
	return cli.Command{Name: "assemblies", Aliases: []string{"clrmodules"}, Group: cli.GroupProcess, Summary: "list the managed modules",
		Options: []cli.Option{
			{Name: "name", Aliases: []string{"n"}, Kind: cli.Str, Value: "REGEX", Summary: "only modules whose file name, without folder, matches"},
			{Name: "verbose", Aliases: []string{"v"}, Summary: "print all that is known of each"},
		},
		Result: report.Result[iter.Seq2[answer.LoadedModule, error]](), NeedsDump: true, Ask: askAssemblies}
}

func askAssemblies(c *cli.Context) (report.Answer, error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	match, err := nameFilter(c)
	if err != nil {
		return report.Answer{}, err
	}
	verbose := c.Bool("verbose")
	list, err := rt.DescribeAssemblies(c.Context(), match)
	return ask.Say(list, err, func(p *report.Page, list iter.Seq2[answer.LoadedModule, error]) {
		processtext.Assemblies(p, list, verbose)
	})
}
