package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/apptext"
)

type flowOptions struct {
	Thread string `opt:"thread" value:"ID" help:"only what flows with this thread: its index or OS id"`
	ask.ThreadIDs
	Object cli.Object `arg:"address,optional" help:"only what flows with this object"`
}

func flowsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "flows", Aliases: []string{"activities", "asynclocals", "logscopes"},
		Summary: "list the AsyncLocal values of threads and async methods: activities with trace ids, log scopes and others",
		Help: "AsyncLocal values flow with code: in the ExecutionContext of a thread, or of a suspended async method. " +
			"An Activity (a span of a distributed trace) is shown with its ids and parents, a log scope with what it adds to each log line.\n\n" +
			"An object may be a System.Threading.Thread, an ExecutionContext, or an async method as dumpasync lists them.",
		Examples: []cli.Example{
			{Line: "flows", Text: "which trace and log scopes belong to which code?"},
			{Line: "flows -managed -thread 12", Text: "those of the thread with managed id 12"},
		},
	}, askFlows, apptext.Card)
}

func askFlows(c *cli.Context, o *flowOptions) (*answer.Flows, error) {
	var chosen flows.Options
	switch {
	case o.Object.Given:
		chosen.Object = &o.Object.Addr
	case o.Thread != "":
		list, err := ask.Threads(c)
		if err != nil {
			return nil, err
		}
		if chosen.Thread, err = o.Find(c, list, o.Thread); err != nil {
			return nil, err
		}
	}
	return flows.Flows(ask.Context(c), ask.View(c), chosen)
}
