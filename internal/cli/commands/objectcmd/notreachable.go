package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func notReachableCommand() cli.Command {
	return cli.Command{
		Name: "notreachableinrange", Group: cli.GroupObjects, NeedsDump: true, Ask: askNotReachable,
		Summary: "lists the objects to which the words of a range refer and that nothing keeps alive",
		Help:    "The range is one of addresses of objects, such as a part of the finalizer queue, whose bounds finalizequeue prints.",
		Options: []cli.Option{
			{Name: "short", Kind: cli.Bool, Summary: "only addresses, one a line, for scripts"},
			{Name: "nofinalizer", Kind: cli.Bool, Summary: "also objects that only the finalizer queue keeps alive"},
		},
		Args: []cli.Arg{
			{Name: "start", Kind: cli.Address, Summary: "first word"},
			{Name: "end", Kind: cli.Address, Summary: "address behind the last word"},
		},
		Result: report.Result[answer.Unreachable](),
	}
}

func askNotReachable(c *cli.Context) (report.Answer, error) {
	start, _ := c.Addr("start")
	end, _ := c.Addr("end")
	if end < start {
		return report.Answer{}, c.Usagef("the range ends before it starts")
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	live := ask.Live
	if c.Bool("nofinalizer") {
		live = ask.LiveWithoutFinalizers
	}
	is, err := live(c)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := h.UnreachableIn(target.Range{Start: start, End: end}, is)
	return ask.Say(out, err, func(p *report.Page, u *answer.Unreachable) {
		objecttext.Unreachable(p, u, objecttext.ListingOptions{Short: c.Bool("short")})
	})
}
