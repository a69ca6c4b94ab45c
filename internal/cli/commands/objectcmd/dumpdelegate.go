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
	return cli.Command{
		Name: "dumpdelegate", Aliases: []string{"getdelegatemethod"}, Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpDelegate,
		Summary: "list the methods that a delegate calls, with their targets",
		Args:    []cli.Arg{ask.Object("address", "address of the delegate")},
		Result:  report.Result[iter.Seq2[answer.DelegateCall, error]](),
	}
}

func askDumpDelegate(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	calls, err := r.DelegateCalls(a)
	var not *objects.NotDelegateError
	switch {
	case errors.As(err, &not):
		return report.SayText(func(p *report.Page) { objecttext.NotDelegate(p, not.Type) }), err
	case err != nil:
		return invalidObject(err)
	}
	return report.Say(calls, objecttext.Delegate), nil
}
