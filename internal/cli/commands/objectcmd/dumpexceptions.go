package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
)

type exceptionOptions struct {
	ask.Liveness
	ask.Filter
}

func dumpExceptionsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumpexceptions",
		Summary:  "list the exception objects of the heap, with message and innermost frame",
		Help:     "printexception prints one of them with its whole stack trace.",
		Examples: []cli.Example{{Line: "dumpexceptions -type Timeout", Text: "exceptions of types whose name contains Timeout"}},
	}, askDumpExceptions, objecttext.Exceptions)
}

func askDumpExceptions(c *cli.Context, o *exceptionOptions) (*answer.Exceptions, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return nil, err
	}
	f, err := ask.Chosen(c, h, &o.Filter, &o.Liveness)
	if err != nil {
		return nil, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	return r.Exceptions(c.Context(), h, f, ask.Scan(c, "scanning the heap")), nil
}
