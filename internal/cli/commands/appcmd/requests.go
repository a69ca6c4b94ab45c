package appcmd

import (
	"math"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/web"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/report"
)

func requestsCommand() cli.Command {
	return cli.Command{
		Name: "requests", Aliases: []string{"dumpaspnetrequests"}, Group: cli.GroupApp, NeedsDump: true, Ask: askRequests,
		Summary: "list the web requests that the process works on: since when, by which thread or async code, and what they wait for",
		Help: "The servers are those of ASP.NET Core: Kestrel (HTTP/1, 2 and 3), IIS, HTTP.sys, TestServer. When a request came in is known if the host made an activity " +
			"for it, as it does when anything is logged; its age, if the dump says when it was made, or Kestrel's heartbeat does, which keeps the Date header.\n\n" +
			"A thread works on a request if the request flows in its ExecutionContext; async code, if a method that is suspended has it in a variable, or in its ExecutionContext.",
		Options: append(chooseRequests(),
			cli.Option{Name: "stacks", Kind: cli.Bool, Summary: "with all frames of the async code"},
			cli.Option{Name: "headers", Kind: cli.Bool, Summary: "with the headers of the requests"},
			cli.Option{Name: "scopes", Kind: cli.Bool, Summary: "with the scopes of logging: what is noted with each line of the log"},
			secretsOption(),
		),
		Examples: []cli.Example{
			{Line: "requests", Text: "what does the server work on?"},
			{Line: "requests -url /orders -stacks", Text: "where do the requests for orders stand?"},
		},
		Result: report.Result[answer.Requests](),
	}
}

func secretsOption() cli.Option {
	return cli.Option{Name: "secrets", Kind: cli.Bool, Summary: "show secrets, which are masked otherwise"}
}

// chooseRequests returns the options that select requests.
func chooseRequests() []cli.Option {
	return []cli.Option{
		{Name: "url", Kind: cli.Str, Summary: "only requests whose URL contains this, in upper or lower case"},
		{Name: "header", Kind: cli.Str, Summary: "only requests with this header, or with 'Name: value' of this"},
		{Name: "user", Kind: cli.Str, Summary: "only requests of users whose name contains this"},
		{Name: "thread", Kind: cli.Int, Value: "ID", Summary: "only the request that the thread with this managed or OS id works on"},
	}
}

func findHTTPContextCommand() cli.Command {
	return cli.Command{
		Name: "findhttpcontext", Group: cli.GroupApp, NeedsDump: true, Ask: askFindHTTPContext,
		Summary: "find the HttpContext of a request by a part of its URL, a header, the user or the thread",
		Args:    []cli.Arg{{Name: "part", Kind: cli.Str, Optional: true, Summary: "a part of the URL, as -url"}},
		Options: append(chooseRequests(), secretsOption()),
		Examples: []cli.Example{
			{Line: "findhttpcontext /orders/17", Text: "the context of that request"},
			{Line: "findhttpcontext -header 'X-Correlation-Id: 42'", Text: "by a header"},
			{Line: "findhttpcontext -url /orders -user alice", Text: "by both: every option that is given has to hold"},
			{Line: "findhttpcontext -thread 12", Text: "what thread 12 works on"},
		},
		Result: report.Result[answer.Requests](),
	}
}

func dumpRequestsCommand() cli.Command {
	return cli.Command{
		Name: "dumprequests", Group: cli.GroupApp, NeedsDump: true, Ask: askDumpRequests,
		Summary:  "list the web requests that the process works on, a line each",
		Help:     "requests tells more of each.",
		Examples: []cli.Example{{Line: "dumprequests", Text: "the requests, as SOS lists them"}},
		Result:   report.Result[answer.Requests](),
	}
}

// chosenRequests returns the requests that chooseRequests choose.
func chosenRequests(c *cli.Context) (web.RequestOptions, error) {
	o := web.RequestOptions{Secrets: c.Bool("secrets"), Scan: ask.Scan(c, "looking for requests")}
	o.URL, _ = c.Str("url")
	o.Header, _ = c.Str("header")
	o.User, _ = c.Str("user")
	if n, ok := c.Int("thread"); ok {
		if n <= 0 || n > math.MaxUint32 {
			return o, c.Usagef("-thread %d is no id of a thread", n)
		}
		o.Thread = uint32(n)
	}
	return o, nil
}

// listed returns the requests that options choose.
func listed(c *cli.Context, o web.RequestOptions) (*answer.Requests, error) {
	v := ask.View(c)
	r, err := v.WebReader()
	if err != nil {
		return nil, err
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return nil, err
	}
	p := web.Process{Heap: h, Walk: v.Walk, DumpTime: ask.Dump(c).Target().Process().DumpTime}
	if !o.Brief {
		if p.Threads, err = v.Threads(); err != nil {
			c.Warn(err)
		}
	}
	return r.Requests(c.Context(), p, o)
}

func askRequests(c *cli.Context) (report.Answer, error) {
	o, err := chosenRequests(c)
	if err != nil {
		return report.Answer{}, err
	}
	o.Headers, o.Scopes = c.Bool("headers"), c.Bool("scopes")
	out, err := listed(c, o)
	if c.Bool("stacks") {
		return ask.Say(out, err, apptext.RequestsWithStacks)
	}
	return ask.Say(out, err, apptext.Requests)
}

func askFindHTTPContext(c *cli.Context) (report.Answer, error) {
	o, err := chosenRequests(c)
	if err != nil {
		return report.Answer{}, err
	}
	if part, ok := c.Str("part"); ok {
		if o.URL != "" {
			return report.Answer{}, c.Usagef("the URL is given twice: %q and -url %q", part, o.URL)
		}
		o.URL = part
	}
	if o.URL == "" && o.Header == "" && o.User == "" && o.Thread == 0 {
		return report.Answer{}, c.Usagef("which request? Give a part of its URL (-url), -header, -user or -thread")
	}
	o.Headers = true
	out, err := listed(c, o)
	return ask.Say(out, err, apptext.Requests)
}

func askDumpRequests(c *cli.Context) (report.Answer, error) {
	out, err := listed(c, web.RequestOptions{Brief: true, Scan: ask.Scan(c, "looking for requests")})
	return ask.Say(out, err, apptext.DumpRequests)
}
