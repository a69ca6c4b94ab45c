package typecmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func dumpDomainCommand() cli.Command {
	return cli.Command{
		Name: "dumpdomain", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpDomain,
		Summary: "list the application domain's assemblies and modules",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Optional: true, Summary: "of the domain; all domains without it"}},
		Result:  report.Result[iter.Seq2[answer.Domain, error]](),
	}
}

func askDumpDomain(c *cli.Context) (report.Answer, error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	var only []target.Addr
	if a, ok := c.Addr("address"); ok {
		only = append(only, a)
	}
	domains, err := rt.DescribeDomains(only...)
	return ask.Say(domains, err, typetext.Domains)
}

func dumpAssemblyCommand() cli.Command {
	return cli.Command{
		Name: "dumpassembly", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpAssembly,
		Summary: "describe an assembly",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the Assembly"}},
		Result:  report.Result[answer.Assembly](),
	}
}

func askDumpAssembly(c *cli.Context) (report.Answer, error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	as, err := rt.DescribeAssembly(a)
	return ask.Say(as, err, typetext.Assembly)
}

func findAppDomainCommand() cli.Command {
	return cli.Command{
		Name: "findappdomain", Group: cli.GroupTypes, NeedsDump: true, Ask: askFindAppDomain,
		Summary: "say which application domain an object belongs to",
		Args:    []cli.Arg{ask.Object("address", "address of the object")},
		Help:    "Since .NET Core a process has one application domain.",
		Result:  report.Result[answer.AppDomain](),
	}
}

func askFindAppDomain(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	if _, err := r.Proven(a); err != nil {
		return report.Answer{}, err
	}
	domain, err := r.Runtime().AppDomainOf(a)
	return ask.Say(domain, err, typetext.AppDomain)
}
