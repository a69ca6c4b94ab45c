package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
)

func dumpModuleCommand() cli.Command {
	return cli.Command{
		Name: "dumpmodule", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpModule,
		Summary: "describe a managed module",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the Module"}},
		Options: []cli.Option{{Name: "mt", Kind: cli.Bool, Summary: "list the loaded types that it defines and refers to"}},
		Result:  report.Result[answer.ModuleDetails](),
	}
}

func askDumpModule(c *cli.Context) (report.Answer, error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	m, err := rt.DescribeModule(a, dac.ModuleOptions{Types: c.Bool("mt")})
	return ask.Say(m, err, typetext.Module)
}
