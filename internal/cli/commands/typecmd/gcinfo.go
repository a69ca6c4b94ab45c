package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
)

func gcInfoCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "gcinfo",
		Summary: "show which registers and stack slots of a method hold references",
		Help: "ADDRESS is a MethodDesc, or any address in the code of a method. Each line gives an offset from the " +
			"start of the code and what changes there: +slot begins to hold a reference, -slot ends. At a safepoint " +
			"all slots that live across the call are listed.",
		Examples: []cli.Example{{Line: "gcinfo 7f27f48618d8", Text: "the references that Thread.Sleep holds"}},
	}, func(c *cli.Context, o *method) (*answer.GCInfo, error) {
		return ask.View(c).GCInfo(ask.Context(c), o.Address)
	}, typetext.GCInfo)
}
