package objectcmd

import (
	"errors"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
)

func dumpDelegateCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dumpdelegate", Aliases: []string{"getdelegatemethod"},
		Summary: "list the methods that a delegate calls, with their targets",
	}, askDumpDelegate, objecttext.Delegate)
}

func askDumpDelegate(c *cli.Context, o *object) (iter.Seq2[answer.DelegateCall, error], error) {
	calls, err := ask.View(c).DelegateCalls(ask.Context(c), o.Object.Addr)
	var not *objects.NotDelegateError
	switch {
	case errors.As(err, &not):
		return nil, cli.WithText(func(p *report.Page) { objecttext.NotDelegate(p, not.Type) }, err)
	case err != nil:
		return nil, invalidObject(err)
	}
	return calls, nil
}
