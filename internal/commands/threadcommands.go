package commands

import (
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
)

func threadCommands() []cli.Command {
	return []cli.Command{
		dumpStackObjectsCommand(),
	}
}

const notInDump = "<not in dump>"

// threadHeading is the line that SOS prints before what belongs to a thread.
func threadHeading(t *sosgo.Thread) string {
	return fmt.Sprintf("OS Thread Id: %#x (%d)", t.ID(), t.Index)
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
