package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func dumpExceptionsCommand() cli.Command {
	return cli.Command{
		Name: "dumpexceptions", Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpExceptions,
		Summary: "lists the exception objects of the heap, with message and innermost frame",
		Help:    "printexception prints one of them with its whole stack trace.",
		Options: append([]cli.Option{
			{Name: "live", Kind: cli.Bool, Summary: "only objects that something keeps alive"},
			{Name: "dead", Kind: cli.Bool, Summary: "only objects that nothing keeps alive"},
		}, ask.FilterOptions()...),
		Examples: []cli.Example{{Line: "dumpexceptions -type Timeout", Text: "exceptions of types whose name contains Timeout"}},
		Result:   report.Result[answer.Exceptions](),
	}
}

func askDumpExceptions(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	f, err := ask.Chosen(c, h)
	if err != nil {
		return report.Answer{}, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(r.Exceptions(c.Context(), h, f, ask.Scan(c, "scanning the heap")), objecttext.Exceptions), nil
}
