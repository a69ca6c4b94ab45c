package commands

import "github.com/sosgo/sosgo/internal/cli"

func objectCommands() []cli.Command {
	return []cli.Command{
		dumpObjCommand(),
		dumpVCCommand(),
		dumpArrayCommand(),
		dumpStringCommand(),
		dumpDelegateCommand(),
		dumpObjGCRefsCommand(),
		typesCommand(),
		staticsCommand(),
	}
}
