package commands

import "github.com/sosgo/sosgo/internal/cli"

// supportCommands help people to move a dump and to report what went wrong.
func supportCommands() []cli.Command {
	return []cli.Command{doctorCommand(), packCommand()}
}
