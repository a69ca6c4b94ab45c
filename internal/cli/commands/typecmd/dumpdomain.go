package typecmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/target"
)

type domainOptions struct {
	Address *target.Addr `arg:"address,optional" help:"the domain; all domains without it"`
}

func dumpDomainCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpdomain",
		Summary: "list the application domain's assemblies and modules",
	}, func(c *cli.Context, o *domainOptions) (iter.Seq2[answer.Domain, error], error) {
		if o.Address != nil {
			return ask.View(c).Domains(ask.Context(c), *o.Address)
		}
		return ask.View(c).Domains(ask.Context(c))
	}, typetext.Domains)
}

type assemblyOptions struct {
	Address target.Addr `arg:"address" help:"the Assembly"`
}

func dumpAssemblyCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpassembly",
		Summary: "describe an assembly",
	}, func(c *cli.Context, o *assemblyOptions) (*answer.Assembly, error) {
		return ask.View(c).Assembly(ask.Context(c), o.Address)
	}, typetext.Assembly)
}

func findAppDomainCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "findappdomain",
		Summary: "show which application domain an object belongs to",
		Help:    "Since .NET Core a process has one application domain.",
	}, func(c *cli.Context, o *object) (*answer.AppDomain, error) {
		return ask.View(c).AppDomain(ask.Context(c), o.Object.Addr)
	}, typetext.AppDomain)
}
