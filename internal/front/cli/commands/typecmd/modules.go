package typecmd

import (
	"errors"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/modules"
	"github.com/sosgo/sosgo/internal/app/values"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type moduleOptions struct {
	dac.ModuleOptions
	Address target.Addr `arg:"address" help:"the Module"`
}

func dumpModuleCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpmodule",
		Summary: "describe a managed module",
	}, func(c *cli.Context, o *moduleOptions) (*answer.ModuleDetails, error) {
		return modules.Module(ask.Context(c), ask.View(c), o.Address, o.ModuleOptions)
	}, typetext.Module)
}

type domainOptions struct {
	Address *target.Addr `arg:"address,optional" help:"the domain; all domains without it"`
}

func dumpDomainCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpdomain",
		Summary: "list the application domain's assemblies and modules",
	}, func(c *cli.Context, o *domainOptions) (iter.Seq2[*answer.Domain, error], error) {
		if o.Address != nil {
			return modules.Domains(ask.Context(c), ask.View(c), *o.Address)
		}
		return modules.Domains(ask.Context(c), ask.View(c))
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
		return modules.Assembly(ask.Context(c), ask.View(c), o.Address)
	}, typetext.Assembly)
}

func findAppDomainCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "findappdomain",
		Summary: "show which application domain an object belongs to",
		Help:    "Since .NET Core a process has one application domain.",
	}, func(c *cli.Context, o *object) (*answer.AppDomain, error) {
		return values.AppDomain(ask.Context(c), ask.View(c), o.Object.Addr)
	}, typetext.AppDomain)
}

func dumpALCCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpalc",
		Summary: "print the AssemblyLoadContext that the type of an object was loaded into",
	}, askDumpALC, typetext.LoadContext)
}

func askDumpALC(c *cli.Context, o *object) (*answer.LoadContext, error) {
	alc, err := values.LoadContext(ask.Context(c), ask.View(c), o.Object.Addr)
	var invalid *objects.InvalidError
	if errors.As(err, &invalid) {
		return nil, cli.WithText(func(p *report.Page) { typetext.InvalidObject(p, err) }, err)
	}
	return alc, err
}
