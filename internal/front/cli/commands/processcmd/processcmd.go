// Package processcmd holds the commands about the process and its memory. Each turns its options into a call of the
// library and names the renderer of the answer. It computes nothing itself. Start with Commands.
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
