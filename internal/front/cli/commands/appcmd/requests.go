package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/apptext"
)

type requestOptions struct {
	web.RequestOptions
	stackOptions
}

func requestsCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "requests", Aliases: []string{"dumpaspnetrequests"},
		Summary: "list the web requests in progress: their age, the thread or async code that handles them, and what they wait for",
		Help: "The servers are those of ASP.NET Core: Kestrel (HTTP/1, 2 and 3), IIS, HTTP.sys, TestServer. A request's start is known if the host made an activity " +
			"for it, as it does when anything is logged; its age also needs the time of the dump, or of Kestrel's last heartbeat.\n\n" +
			"A thread handles a request if the request is in its ExecutionContext; async code, if a suspended method has it in a variable or its ExecutionContext.",
		Examples: []cli.Example{
			{Line: "requests", Text: "what is the server doing?"},
			{Line: "requests -url /orders -stacks", Text: "where do the requests for orders stand?"},
		},
	}, func(c *cli.Context, o *requestOptions) (*answer.Requests, error) {
		return web.Requests(ask.Context(c), ask.View(c), o.RequestOptions)
	}, apptext.CardWith)
}

type findOptions struct {
	web.RequestFilter
	Part string `arg:"part,optional" help:"a part of the URL, as -url"`
}

func findHTTPContextCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "findhttpcontext",
		Summary: "find the HttpContext of a request by a part of its URL, a header, the user or the thread",
		Examples: []cli.Example{
			{Line: "findhttpcontext /orders/17", Text: "the context of that request"},
			{Line: "findhttpcontext -header 'X-Correlation-Id: 42'", Text: "by a header"},
			{Line: "findhttpcontext -url /orders -user alice", Text: "by both: every option that is given has to hold"},
			{Line: "findhttpcontext -thread 12", Text: "the request that thread 12 handles"},
		},
	}, askFindHTTPContext, apptext.Card)
}

func askFindHTTPContext(c *cli.Context, o *findOptions) (*answer.Requests, error) {
	if o.Part != "" && o.URL != "" {
		return nil, c.Usagef("the URL is given twice: %q and -url %q", o.Part, o.URL)
	}
	o.URL += o.Part
	if o.RequestFilter == (web.RequestFilter{Secrets: o.Secrets}) {
		return nil, c.Usagef("which request? Give a part of its URL (-url), -header, -user or -thread")
	}
	return web.Requests(ask.Context(c), ask.View(c), web.RequestOptions{RequestFilter: o.RequestFilter, Headers: true})
}

func dumpRequestsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumprequests",
		Summary:  "list the web requests in progress, one per line",
		Help:     "requests shows more of each.",
		Examples: []cli.Example{{Line: "dumprequests", Text: "the requests, as SOS lists them"}},
	}, func(c *cli.Context, _ *cli.None) (*answer.Requests, error) {
		return web.Requests(ask.Context(c), ask.View(c), web.RequestOptions{Brief: true})
	}, apptext.DumpRequests)
}
