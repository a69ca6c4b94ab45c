package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
)

func gcInfoCommand() cli.Command {
	return cli.Command{
		Name: "gcinfo", Group: cli.GroupTypes, NeedsDump: true, Ask: askGCInfo,
		Summary: "tell which registers and stack slots of a method hold references",
		Help: "ADDRESS is a MethodDesc, or any address in the code of a method. Each line gives an offset from the " +
			"start of the code and what changes there: +slot begins to hold a reference, -slot ends. At a safepoint " +
			"all slots that live across the call are listed.",
		Args:     []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "MethodDesc, or address in its code"}},
		Examples: []cli.Example{{Line: "gcinfo 7f27f48618d8", Text: "the references that Thread.Sleep holds"}},
		Result:   report.Result[answer.GCInfo](),
	}
}

func askGCInfo(c *cli.Context) (report.Answer, error) {
	r, err := ask.Code(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	g, err := r.DescribeGCInfo(a)
	return ask.Say(g, err, typetext.GCInfo)
}
