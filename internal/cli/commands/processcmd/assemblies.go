package processcmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/report"
)

type assemblyOptions struct {
	Name    nameFilter `opt:"name,n" help:"only modules whose file name, without folder, matches"`
	Verbose bool       `opt:"verbose,v" help:"print all details of each"`
}

func assembliesCommand() cli.Command {
	return cli.AskWith(cli.Command{Name: "assemblies", Aliases: []string{"clrmodules"}, Summary: "list the managed modules"},
		func(c *cli.Context, o *assemblyOptions) (iter.Seq2[answer.LoadedModule, error], error) {
			return ask.View(c).Assemblies(ask.Context(c), o.Name)
		}, func(p *report.Page, list iter.Seq2[answer.LoadedModule, error], o *assemblyOptions) {
			processtext.Assemblies(p, list, o.Verbose)
		})
}
