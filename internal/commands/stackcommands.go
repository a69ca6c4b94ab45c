package commands

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
)

func runningThreads(c *cli.Context, rt *dac.Runtime, list []sosgo.Thread) []*sosgo.Thread {
	return ask.RunningThreads(c, list, rt)
}

// threadName is the name of a thread, empty if it has none; one that can't be
// read is a warning.
func threadName(c *cli.Context, t *sosgo.Thread) string {
	name, err := t.Name()
	if err != nil {
		c.Warn(err)
	}
	return name
}
