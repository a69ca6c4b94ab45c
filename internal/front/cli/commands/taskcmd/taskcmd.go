// Package taskcmd holds the commands about what the program waits for: tasks and async methods, the thread pool,
// timers and locks. Each turns its options into a call of the library and names the renderer of the answer. It
// computes nothing itself. Start with Commands.
package taskcmd

import "github.com/sosgo/sosgo/internal/front/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupTasks,
		taskStateCommand(),
		dumpAsyncCommand(),
		locksCommand(),
		waitsCommand(),
		initializersCommand(),
		threadPoolCommand(),
		threadPoolQueueCommand(),
		timerInfoCommand(),
		asyncStacksCommand(),
		tasksCommand(),
	)
}
