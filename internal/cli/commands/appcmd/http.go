package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/web"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/report"
)

func dumpHTTPCommand() cli.Command {
	return cli.Command{
		Name: "dumphttp", Group: cli.GroupApp, NeedsDump: true, Ask: askDumpHTTP,
		Summary: "list the requests that the process sent by HttpClient, with the status of the response",
		Help: "A request does not know its response. One whose response is no longer on the heap is listed without a status, as one is that still waits for it; " +
			"httpclients says which are on their way.",
		Options: []cli.Option{
			{Name: "stats", Kind: cli.Bool, Summary: "count requests by method, status and host instead of listing them"},
			{Name: "pending", Kind: cli.Bool, Summary: "only requests without a response"},
			{Name: "completed", Kind: cli.Bool, Summary: "only requests with a response"},
			{Name: "uri", Kind: cli.Str, Summary: "only requests whose URI contains this, in upper or lower case"},
			{Name: "statuscode", Kind: cli.Int, Summary: "only requests with a response of this status"},
		},
		Examples: []cli.Example{
			{Line: "dumphttp --stats", Text: "which servers were asked, and how did they answer?"},
			{Line: "dumphttp --statuscode 500 --uri weather", Text: "what failed there?"},
		},
		Result: report.Result[answer.Messages](),
	}
}

func askDumpHTTP(c *cli.Context) (report.Answer, error) {
	o := web.MessageOptions{Count: c.Bool("stats"), Pending: c.Bool("pending"), Completed: c.Bool("completed"), Scan: ask.Scan(c, "looking for requests")}
	o.URI, _ = c.Str("uri")
	if n, ok := c.Int("statuscode"); ok {
		o.Status = &n
	}
	r, h, err := webReader(c)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Messages(c.Context(), h, o)
	return ask.Say(out, err, apptext.Messages)
}

func httpClientsCommand() cli.Command {
	return cli.Command{
		Name: "httpclients", Group: cli.GroupApp, NeedsDump: true, Ask: askHTTPClients,
		Summary:  "list the pools of connections of HttpClient: how many are idle, and which requests are on their way or wait for a connection",
		Examples: []cli.Example{{Line: "httpclients", Text: "does a request wait for a connection?"}},
		Result:   report.Result[answer.HTTPClients](),
	}
}

func askHTTPClients(c *cli.Context) (report.Answer, error) {
	r, h, err := webReader(c)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.Clients(c.Context(), h, ask.Scan(c, "looking for connections"))
	return ask.Say(out, err, apptext.HTTPClients)
}

func webSocketsCommand() cli.Command {
	return cli.Command{
		Name: "websockets", Group: cli.GroupApp, NeedsDump: true, Ask: askWebSockets,
		Summary:  "list the WebSockets of servers and clients: their state, and the async code that has each in hand",
		Options:  []cli.Option{{Name: "stacks", Kind: cli.Bool, Summary: "with all frames of the async code"}},
		Examples: []cli.Example{{Line: "websockets", Text: "which are open, and who reads from them?"}},
		Result:   report.Result[answer.WebSockets](),
	}
}

func askWebSockets(c *cli.Context) (report.Answer, error) {
	r, h, err := webReader(c)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.WebSockets(c.Context(), h, ask.Scan(c, "looking for WebSockets"))
	if c.Bool("stacks") {
		return ask.Say(out, err, apptext.WebSocketsWithStacks)
	}
	return ask.Say(out, err, apptext.WebSockets)
}

func grpcCommand() cli.Command {
	return cli.Command{
		Name: "grpc", Aliases: []string{"grpccalls"}, Group: cli.GroupApp, NeedsDump: true, Ask: askGRPC,
		Summary: "list the calls of gRPC that the process sends and answers: method, deadline, and the async code that has each in hand",
		Options: []cli.Option{
			{Name: "all", Kind: cli.Bool, Summary: "with the calls that are done and whose objects are still in the heap"},
			{Name: "stacks", Kind: cli.Bool, Summary: "with all frames of the async code"},
		},
		Examples: []cli.Example{{Line: "grpc", Text: "which calls are under way?"}, {Line: "grpc -all", Text: "and how did the others end?"}},
		Result:   report.Result[answer.GRPCCalls](),
	}
}

func askGRPC(c *cli.Context) (report.Answer, error) {
	r, h, err := webReader(c)
	if err != nil {
		return report.Answer{}, err
	}
	out, err := r.GRPC(c.Context(), h, ask.Scan(c, "looking for calls of gRPC"))
	return ask.Say(out, err, apptext.GRPCCalls(c.Bool("all"), c.Bool("stacks")))
}

// webReader returns what reads web requests, and the heap to look for them.
func webReader(c *cli.Context) (*web.Reader, *heap.Heap, error) {
	r, err := ask.View(c).WebReader()
	if err != nil {
		return nil, nil, err
	}
	h, err := ask.ScannedHeap(c, false)
	return r, h, err
}
