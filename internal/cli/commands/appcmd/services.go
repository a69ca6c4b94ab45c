package appcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/apptext"
)

func signalRCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "signalr",
		Aliases: []string{"hubs", "circuits"},
		Summary: "list the hubs of SignalR with their connections, users and groups, and the circuits of Blazor",
		Help: "Connections and groups are those of this process. A message waits to be written while another one is: a client that reads slowly has many. " +
			"A circuit is the state that the server keeps of a page; retained gives the memory freed with it.",
		Examples: []cli.Example{{Line: "signalr", Text: "who is connected?"}},
	}, ask.Plain((*sosgo.View).SignalR), apptext.SignalR)
}

func redisCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "redis",
		Summary:  "list the connections of StackExchange.Redis, with the commands that wait to be sent and those that wait for an answer",
		Help:     "Commands without a connection wait in a backlog. They are a finding if the connection is not established, or if there are a hundred and more.",
		Examples: []cli.Example{{Line: "redis", Text: "does Redis answer?"}},
	}, ask.Plain((*sosgo.View).Redis), apptext.Redis)
}

func objectPoolsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "objectpools",
		Summary:  "list the pools of Microsoft.Extensions.ObjectPool: how many objects each keeps, and how many at most",
		Examples: []cli.Example{{Line: "objectpools", Text: "what do the pools keep?"}},
	}, ask.Plain((*sosgo.View).ObjectPools), apptext.ObjectPools)
}

func queuesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "queues",
		Summary: "list the queues of log events of Serilog, and the queues and endpoints of MassTransit",
		Help: "The queues of Serilog are those of sinks that write in the background: Serilog.Sinks.Async, and sinks that batch. Those of MassTransit are of its transport within the " +
			"process; messages of a broker wait there, and the endpoint shows how many are being consumed.",
		Examples: []cli.Example{{Line: "queues", Text: "does logging keep up?"}},
	}, ask.Plain((*sosgo.View).Queues), apptext.Queues)
}
