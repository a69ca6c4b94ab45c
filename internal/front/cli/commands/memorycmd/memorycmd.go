// Package memorycmd holds the commands about what keeps memory alive. Each turns its options into a call of the
// library and names the renderer of the answer. It computes nothing itself. Start with Commands.
package memorycmd

import "github.com/sosgo/sosgo/internal/front/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupMemory,
		leaksCommand(),
		retainedCommand(),
		dominatorsCommand(),
		referrersCommand(),
		referentsCommand(),
		gcRootCommand(),
		pathToCommand(),
		ephRefsCommand(),
		ephToLOHCommand(),
		memoryCommand(),
		heapMapCommand(),
		wasteCommand(),
		diffCommand(),
		gcCommand(),
	)
}
