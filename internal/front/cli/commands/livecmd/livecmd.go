// Package livecmd holds the commands that ask running processes. They are for the user's own command line: no server,
// editor or agent can run them. Start with Commands.
package livecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/text/livetext"
	"github.com/sosgo/sosgo/internal/live/processes"
)

// Commands returns the commands of the group.
func Commands() []cli.Command {
	list := []cli.Command{psCommand(), collectCommand()}
	for i := range list {
		list[i].Group, list[i].NoDump, list[i].Live = cli.GroupLive, true, true
	}
	return list
}

func psCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ps",
		Summary: "list the .NET processes of this machine and of the containers that can be seen from it",
		Help: "Each process is asked for its runtime's version at its diagnostics port. One that cannot be asked for a dump has the reason below it. " +
			"Secrets in command lines are masked. As root, the processes of all users and containers are found; others find their own. " +
			"docs/taking-dumps.md says how to reach a container.",
		Examples: []cli.Example{{Line: "sosgo ps", Text: "what collect can take a dump of"}},
	}, func(c *cli.Context, _ *cli.None) (*answer.Processes, error) { return processes.Describe(c.Context()) }, livetext.Processes)
}
