// Package threadcmd holds the commands about threads and stacks. Each turns its options into a call of the library
// and names the renderer of the answer. It computes nothing itself. Start with Commands.
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
