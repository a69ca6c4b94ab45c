package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
)

func ehInfoCommand() cli.Command {
	return cli.Command{
		Name: "ehinfo", Group: cli.GroupTypes, NeedsDump: true, Ask: askEHInfo,
		Summary: "list the exception handlers of a method's code",
		Help: "For each clause the code that it covers and the code of its handler, as addresses and as offsets from " +
			"the start of the method. The end of a range is the first byte behind it.",
		Args:     []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "MethodDesc, or address in its code"}},
		Examples: []cli.Example{{Line: "ehinfo 7f27f4926d78", Text: "the handlers of a method"}},
		Result:   report.Result[answer.Handlers](),
	}
}

func askEHInfo(c *cli.Context) (report.Answer, error) {
	r, err := ask.Code(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	h, err := r.DescribeHandlers(a)
	return ask.Say(h, err, typetext.Handlers)
}
