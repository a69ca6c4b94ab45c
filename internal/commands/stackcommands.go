package commands

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
)

func stackCommands() []cli.Command {
	return []cli.Command{}
}

func runningThreads(c *cli.Context, rt *dac.Runtime, list []sosgo.Thread) []*sosgo.Thread {
	return ask.RunningThreads(c, list, rt)
}
