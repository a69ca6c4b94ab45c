package commands

import "github.com/sosgo/sosgo/internal/cli"

func typeCommands() []cli.Command {
	return []cli.Command{
		dumpMTCommand(),
		dumpClassCommand(),
	}
}
