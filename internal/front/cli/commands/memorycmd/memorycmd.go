// Package memorycmd has the commands about what holds memory: each turns its options into a question to the library and
// names the renderer of the answer.
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
