// Package appcmd has the commands about what the application of a process was doing: web requests, pools of connections, hosts,
// scopes of services, caches, and what flows with code. Each turns its options into a question to the library and names the renderer of the answer.
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
