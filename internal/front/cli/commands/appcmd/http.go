package appcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/apptext"
	"github.com/sosgo/sosgo/internal/front/report"
)

func dumpHTTPCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumphttp",
		Summary: "list the requests that the process sent with HttpClient, and the status of their responses",
		Help: "A request does not refer to its response. One whose response is no longer on the heap is listed without a status, like one that still waits for it; " +
			"httpclients lists those in flight.",
		Examples: []cli.Example{
			{Line: "dumphttp --stats", Text: "which servers were called, and how did they answer?"},
			{Line: "dumphttp --statuscode 500 --uri weather", Text: "what failed there?"},
		},
	}, ask.With(web.Messages), apptext.Messages)
}

type clientOptions struct {
	stackOptions
	web.ClientOptions
}

func httpClientsCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "httpclients",
		Summary: "list HttpClients and their connection pools: requests in flight, and requests that wait for a connection, with the code that awaits them",
		Help: "The age of a request is known from the timer of HttpClient's timeout: it is what passed until the newest time that the process recorded. " +
			"Ten pools and more that lead to one server are reported: HttpClients are then made for each use. Those of IHttpClientFactory share handlers and are not disposed on purpose.",
		Examples: []cli.Example{{Line: "httpclients", Text: "does a request wait for a connection?"}},
	}, func(c *cli.Context, o *clientOptions) (*answer.HTTPClients, error) {
		return web.HTTPClients(ask.Context(c), ask.View(c), o.ClientOptions)
	}, apptext.CardWith)
}

type stackOptions struct {
	Stacks bool `opt:"stacks" help:"with all frames of the async code"`
}

// Frames reports whether all frames of async code are requested.
func (o *stackOptions) Frames() bool { return o.Stacks }

func webSocketsCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:     "websockets",
		Summary:  "list the WebSockets of servers and clients, with their state and the async code that uses them",
		Examples: []cli.Example{{Line: "websockets", Text: "which are open, and who reads from them?"}},
	}, func(c *cli.Context, _ *stackOptions) (*answer.WebSockets, error) {
		return web.Sockets(ask.Context(c), ask.View(c))
	}, apptext.CardWith)
}

type grpcOptions struct {
	All bool `opt:"all" help:"with completed calls that are still on the heap"`
	stackOptions
}

func grpcCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "grpc", Aliases: []string{"grpccalls"},
		Summary:  "list the gRPC calls of clients and servers: method, deadline, and the async code that handles each",
		Examples: []cli.Example{{Line: "grpc", Text: "which calls are in progress?"}, {Line: "grpc -all", Text: "and how did the others end?"}},
	}, func(c *cli.Context, _ *grpcOptions) (*answer.GRPCCalls, error) {
		return web.GRPCCalls(ask.Context(c), ask.View(c))
	}, func(p *report.Page, a *answer.GRPCCalls, o *grpcOptions) { apptext.GRPCCalls(p, a, o.All, o.Stacks) })
}
