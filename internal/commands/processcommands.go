package commands

import "github.com/sosgo/sosgo/internal/cli"

func processCommands() []cli.Command {
	return []cli.Command{
		modulesCommand(),
		saveModuleCommand(),
		assembliesCommand(),
	}
}
