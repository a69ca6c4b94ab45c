package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

type methodOptions struct {
	Address target.Addr `arg:"address" help:"the MethodDesc"`
}

func dumpMDCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumpmd",
		Summary:  "describe a method by its MethodDesc",
		Examples: []cli.Example{{Line: "dumpmd 7f07a5b47868", Text: "a method, its code and the versions of that"}},
	}, func(c *cli.Context, o *methodOptions) (*answer.Method, error) {
		m, err := ask.View(c).Method(ask.Context(c), o.Address)
		return m, notFound(o.Address, err, typetext.NoMethodDesc)
	}, typetext.Method)
}

type codeAddress struct {
	Address target.Addr `arg:"address" help:"in managed code, such as a return address"`
}

func ip2mdCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "ip2md",
		Summary:  "find the method that an address in managed code belongs to",
		Examples: []cli.Example{{Line: "ip2md 7f27f487b3a0", Text: "the method, and the line of the source"}},
	}, func(c *cli.Context, o *codeAddress) (*answer.Method, error) {
		r, err := ask.Code(c)
		if err != nil {
			return nil, err
		}
		m, err := r.DescribeMethodAt(o.Address)
		return m, notFound(o.Address, err, typetext.NoMethodAt)
	}, typetext.MethodAt)
}

// notFound marks err, which may be nil, with what SOS prints where there is nothing at a.
func notFound(a target.Addr, err error, text func(*report.Page, target.Addr)) error {
	if err == nil {
		return nil
	}
	return cli.WithText(func(p *report.Page) { text(p, a) }, err)
}
