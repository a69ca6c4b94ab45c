package appcmd

import (
	"github.com/sosgo/sosgo/internal/app/interop"
	"github.com/sosgo/sosgo/internal/app/tracing"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/apptext"
)

func signalRCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "signalr",
		Aliases: []string{"hubs", "circuits"},
		Summary: "list the hubs of SignalR with their connections, users and groups, and the circuits of Blazor",
		Help: "Connections and groups are those of this process. A message waits to be written while another one is: a client that reads slowly has many. " +
			"A circuit is the state that the server keeps of a page; retained gives the memory freed with it.",
		Examples: []cli.Example{{Line: "signalr", Text: "who is connected?"}},
	}, ask.Plain(web.SignalR), apptext.Card)
}

func sessionsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "sessions",
		Aliases: []string{"httpsessions"},
		Summary: "list the sessions of ASP.NET Core by user: those that requests have, and those that rest in memory",
		Help: "A request reads its session when it first asks for it, and writes it when it ends; in between the session rests in an IDistributedCache. Only that of the process's memory " +
			"(AddDistributedMemoryCache) is in a dump; of sessions that rest in Redis or SQL Server, a dump has those that requests have loaded.\n\n" +
			"The user is that of the request, or else a text that the session has by a name such as UserName or login: the listing says which. Secrets are masked.",
		Examples: []cli.Example{{Line: "sessions", Text: "whose sessions are how large?"},
			{Line: "sessions -retained", Text: "and what would be free without them?"},
			{Line: "sessions -user alice -values", Text: "what do they hold?"}},
	}, ask.With(web.Sessions), apptext.Card)
}

func redisCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "redis",
		Summary:  "list the connections of StackExchange.Redis, with the commands that wait to be sent and those that wait for an answer",
		Help:     "Commands without a connection wait in a backlog. They are a finding if the connection is not established, or if there are a hundred and more.",
		Examples: []cli.Example{{Line: "redis", Text: "does Redis answer?"}},
	}, ask.Plain(web.Redis), apptext.Card)
}

func objectPoolsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "objectpools",
		Summary:  "list the pools of Microsoft.Extensions.ObjectPool: how many objects each keeps, and how many at most",
		Examples: []cli.Example{{Line: "objectpools", Text: "what do the pools keep?"}},
	}, ask.Plain(web.ObjectPools), apptext.Card)
}

func queuesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "queues",
		Summary: "list the queues of log events of Serilog, and the queues and endpoints of MassTransit",
		Help: "The queues of Serilog are those of sinks that write in the background: Serilog.Sinks.Async, and sinks that batch. Those of MassTransit are of its transport within the " +
			"process; messages of a broker wait there, and the endpoint shows how many are being consumed.",
		Examples: []cli.Example{{Line: "queues", Text: "does logging keep up?"}},
	}, ask.Plain(web.Queues), apptext.Card)
}

func eventSourcesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "eventsources",
		Aliases: []string{"eventpipe", "tracing"},
		Summary: "list who listens to the events of the process: EventListeners, sessions of EventPipe, ETW, readers of counters",
		Help: "Level and keywords of a source are those of all who listen to it together; a listener does not keep its own. Sessions of EventPipe are numbered; " +
			"what a session writes to, and the size of its buffers, is not read. A source that nobody listens to is only counted; JSON has all of them.",
		Examples: []cli.Example{{Line: "eventsources", Text: "is the process being traced?"}},
	}, ask.Plain(tracing.EventSources), apptext.Card)
}

func comWrappersCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "comwrappers",
		Summary: "list the wrappers of ComWrappers: managed objects that native code refers to, and native objects that managed code refers to",
		Help: "Since .NET 10 these wrappers are managed objects, on all systems. Those of earlier runtimes, and those of the built-in COM of Windows (SOS's dumprcw and dumpccw), " +
			"are structures of the runtime, which are not read.",
		Examples: []cli.Example{{Line: "comwrappers", Text: "which objects does native code keep alive?"}},
	}, ask.Plain(interop.ComWrappers), apptext.Card)
}
