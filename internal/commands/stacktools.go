package commands

import "github.com/sosgo/sosgo/internal/cli"

// stackToolCommands look at stacks in other ways than frame by frame.
func stackToolCommands() []cli.Command {
	return []cli.Command{
		stacksCommand(),
	}
}
