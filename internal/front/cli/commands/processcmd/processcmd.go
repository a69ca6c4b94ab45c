// Package processcmd has the commands about the process and its memory: each turns its options into a
// question to the library and names the renderer of the answer.
package processcmd

import "github.com/sosgo/sosgo/internal/front/cli"

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupProcess, append(memoryCommands(),
		runtimesCommand(),
		eeVersionCommand(),
		modulesCommand(),
		assembliesCommand(),
		saveModuleCommand(),
		packCommand(),
		doctorCommand(),
		dumpLogCommand(),
		triageCommand(),
		processCommand(),
		lnCommand(),
	)...)
}
