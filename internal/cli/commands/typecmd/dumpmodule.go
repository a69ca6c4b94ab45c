package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/target"
)

type moduleOptions struct {
	MT      bool        `opt:"mt" help:"the loaded types that it defines and refers to"`
	Address target.Addr `arg:"address" help:"the Module"`
}

func dumpModuleCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpmodule",
		Summary: "describe a managed module",
	}, func(c *cli.Context, o *moduleOptions) (*answer.ModuleDetails, error) {
		return ask.View(c).Module(ask.Context(c), o.Address, dac.ModuleOptions{Types: o.MT})
	}, typetext.Module)
}
