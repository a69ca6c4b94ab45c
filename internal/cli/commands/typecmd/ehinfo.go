package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/target"
)

// A method is the argument of commands about the code of a method.
type method struct {
	Address target.Addr `arg:"address" kind:"method" help:"MethodDesc, address in its code, or the method's name"`
}

// An object is the argument of commands that take one object.
type object struct {
	Object cli.Object `arg:"address" help:"the object"`
}

func ehInfoCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ehinfo",
		Summary: "list the exception handlers of a method's code",
		Help: "For each clause the code that it covers and the code of its handler, as addresses and as offsets from " +
			"the start of the method. The end of a range is the first byte behind it.",
		Examples: []cli.Example{{Line: "ehinfo 7f27f4926d78", Text: "the handlers of a method"}},
	}, func(c *cli.Context, o *method) (*answer.Handlers, error) {
		return ask.View(c).Handlers(ask.Context(c), o.Address)
	}, typetext.Handlers)
}
