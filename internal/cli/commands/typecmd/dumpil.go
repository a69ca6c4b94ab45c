package typecmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/objects/disasm"
	"github.com/sosgo/sosgo/target"
)

type ilOptions struct {
	Raw     bool        `opt:"i" help:"IL in memory: ADDRESS is where it begins"`
	Address target.Addr `arg:"address" kind:"method" help:"MethodDesc, the method's name, address in the method's code, or a DynamicMethod or its resolver"`
}

func dumpILCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpil",
		Summary: "print a method's IL",
		Examples: []cli.Example{
			{Line: "dumpil 7f27f4926dd8", Text: "the IL of a method, with names and literals"},
			{Line: "dumpil -i 7f27f3f8bf24", Text: "IL in memory"},
		},
	}, askDumpIL, typetext.IL)
}

func askDumpIL(c *cli.Context, o *ilOptions) (*answer.IL, error) {
	if o.Address == 0 {
		return nil, cli.WithText(typetext.NoIL, c.Usagef("0 is not a method"))
	}
	if o.Raw {
		return ask.View(c).ILAt(ask.Context(c), o.Address)
	}
	il, err := ask.View(c).IL(ask.Context(c), o.Address)
	var none *disasm.NoMethodError
	if errors.As(err, &none) {
		return nil, notFound(o.Address, err, typetext.NoMethodDesc)
	}
	return il, err
}
