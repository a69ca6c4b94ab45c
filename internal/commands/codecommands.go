package commands

import "github.com/sosgo/sosgo/internal/cli"

// codeCommands are the commands about methods.
func codeCommands() []cli.Command {
	return []cli.Command{dumpMDCommand(), ip2mdCommand(), dumpILCommand()}
}
