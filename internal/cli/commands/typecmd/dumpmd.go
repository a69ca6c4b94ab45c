package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func dumpMDCommand() cli.Command {
	return cli.Command{
		Name: "dumpmd", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpMD,
		Summary:  "describe a method by its MethodDesc",
		Args:     []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the MethodDesc"}},
		Examples: []cli.Example{{Line: "dumpmd 7f07a5b47868", Text: "a method, its code and the versions of that"}},
		Result:   report.Result[answer.Method](),
	}
}

func askDumpMD(c *cli.Context) (report.Answer, error) {
	r, err := ask.Code(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	m, err := r.DescribeMethod(a)
	if err != nil {
		return notFound(a, typetext.NoMethodDesc), err
	}
	return report.Say(m, typetext.Method), nil
}

func ip2mdCommand() cli.Command {
	return cli.Command{
		Name: "ip2md", Group: cli.GroupTypes, NeedsDump: true, Ask: askIP2MD,
		Summary:  "find the method that an address in managed code belongs to",
		Args:     []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "in managed code, such as a return address"}},
		Examples: []cli.Example{{Line: "ip2md 7f27f487b3a0", Text: "the method, and the line of the source"}},
		Result:   report.Result[answer.Method](),
	}
}

func askIP2MD(c *cli.Context) (report.Answer, error) {
	r, err := ask.Code(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	m, err := r.DescribeMethodAt(a)
	if err != nil {
		return notFound(a, typetext.NoMethodAt), err
	}
	return report.Say(m, typetext.MethodAt), nil
}

// notFound is what SOS prints beside the error that there is nothing at a.
func notFound(a target.Addr, text func(*report.Page, target.Addr)) report.Answer {
	return report.SayText(func(p *report.Page) { text(p, a) })
}
