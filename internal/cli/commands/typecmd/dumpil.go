package typecmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects/disasm"
)

func dumpILCommand() cli.Command {
	return cli.Command{
		Name: "dumpil", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpIL,
		Summary: "print a method's IL",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the MethodDesc, in the method's code, or of a DynamicMethod or its resolver"}},
		Options: []cli.Option{
			{Name: "i", Kind: cli.Bool, Summary: "the address is that of IL"},
		},
		Examples: []cli.Example{
			{Line: "dumpil 7f27f4926dd8", Text: "the IL of a method, with names and literals"},
			{Line: "dumpil -i 7f27f3f8bf24", Text: "IL in memory"},
		},
		Result: report.Result[answer.IL](),
	}
}

func askDumpIL(c *cli.Context) (report.Answer, error) {
	l, err := ask.Lister(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	if a == 0 {
		return report.SayText(typetext.NoIL), c.Usagef("0 is no method")
	}
	if c.Bool("i") {
		il, err := l.ILAt(a)
		return ask.Say(il, err, typetext.IL)
	}
	il, err := l.IL(a)
	var none *disasm.NoMethodError
	if errors.As(err, &none) {
		return notFound(a, typetext.NoMethodDesc), err
	}
	return ask.Say(il, err, typetext.IL)
}
