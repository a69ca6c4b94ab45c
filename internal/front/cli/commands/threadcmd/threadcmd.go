// Package threadcmd has the commands about threads and stacks: each turns its
// options into a question to the library and names the renderer of the answer.
package threadcmd

import "github.com/sosgo/sosgo/internal/front/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupThreads,
		clrThreadsCommand(),
		crashInfoCommand(),
		clrmaCommand(),
		printExceptionCommand(),
		registersCommand(),
		syncBlkCommand(),
		clrStackCommand(),
		parallelStacksCommand(),
		dumpStackCommand(),
		eeStackCommand(),
		dumpStackObjectsCommand(),
		stacksCommand(),
		threadStateCommand(),
		threadsCommand(),
		watsonBucketsCommand(),
	)
}
