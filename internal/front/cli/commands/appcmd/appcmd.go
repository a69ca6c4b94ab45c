// Package appcmd holds the commands about what the application was doing: web requests, connection pools, hosts,
// service scopes, caches and execution contexts. Each turns its options into a call of the library and names the
// renderer of the answer. It computes nothing itself. Start with Commands.
package appcmd

import "github.com/sosgo/sosgo/internal/front/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupApp,
		requestsCommand(),
		findHTTPContextCommand(),
		dumpRequestsCommand(),
		dumpHTTPCommand(),
		httpClientsCommand(),
		webSocketsCommand(), signalRCommand(), sessionsCommand(), redisCommand(), objectPoolsCommand(), queuesCommand(),
		grpcCommand(),
		sqlPoolsCommand(),
		hostCommand(),
		servicesCommand(),
		cachesCommand(),
		dbContextsCommand(),
		flowsCommand(),
		eventSourcesCommand(), comWrappersCommand(),
	)
}
