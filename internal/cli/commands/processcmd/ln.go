package processcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

type addressOptions struct {
	Address target.Addr `arg:"address" help:"any address"`
}

func lnCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "ln", Aliases: []string{"whatis"},
		Summary:  "describe an address: an object, a type, a method, code, a stack, an image",
		Examples: []cli.Example{{Line: "ln 7f27f487b3a0", Text: "what is at this address?"}},
	}, func(c *cli.Context, o *addressOptions) (*answer.Address, error) {
		return ask.View(c).Resolve(c.Context(), o.Address), nil
	}, func(p *report.Page, a *answer.Address) {
		p.Printf("%016x %s\n", uint64(a.Address), report.Escape(ask.Describe(a)))
	})
}
