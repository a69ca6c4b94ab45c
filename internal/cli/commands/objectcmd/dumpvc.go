package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/target"
)

type structOptions struct {
	MT      target.Addr `arg:"mt" help:"MethodTable of the value type"`
	Address target.Addr `arg:"address" help:"address of its first field"`
}

func dumpVCCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumpvc",
		Summary:  "show a value type in place: its fields and values",
		Examples: []cli.Example{{Line: "dumpvc 7f07a5b34f68 7efbcd805d40", Text: "show the struct that dumpobj listed with that MT and value"}},
	}, func(c *cli.Context, o *structOptions) (*answer.Struct, error) {
		s, err := ask.View(c).Struct(ask.Context(c), o.MT, o.Address)
		if err != nil {
			return nil, cli.WithText(objecttext.InvalidStruct, err)
		}
		return s, nil
	}, objecttext.Struct)
}
