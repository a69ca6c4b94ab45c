package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

type unreachableOptions struct {
	Short       bool        `opt:"short" help:"only addresses, one a line, for scripts"`
	NoFinalizer bool        `opt:"nofinalizer" help:"also objects that only the finalizer queue keeps alive"`
	Start       target.Addr `arg:"start" help:"first word"`
	End         target.Addr `arg:"end" help:"address behind the last word"`
}

func notReachableCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "notreachableinrange",
		Summary: "list the unreachable objects that the words of a range refer to",
		Help:    "The words are addresses of objects, such as a part of the finalizer queue, whose bounds finalizequeue prints.",
	}, askNotReachable, func(p *report.Page, u *answer.Unreachable, o *unreachableOptions) {
		objecttext.Unreachable(p, u, objecttext.ListingOptions{Short: o.Short})
	})
}

func askNotReachable(c *cli.Context, o *unreachableOptions) (*answer.Unreachable, error) {
	if o.End < o.Start {
		return nil, c.Usagef("the range ends before it starts")
	}
	return ask.View(c).Unreachable(ask.Context(c), target.Range{Start: o.Start, End: o.End}, o.NoFinalizer)
}
