package commands

import (
	"fmt"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

func threadCommands() []cli.Command {
	return []cli.Command{
		dumpStackObjectsCommand(),
		printExceptionCommand(),
	}
}

const notInDump = "<not in dump>"

// threadHeading is the line that SOS prints before what belongs to a thread.
func threadHeading(t *sosgo.Thread) string {
	return fmt.Sprintf("OS Thread Id: %#x (%d)", t.ID(), t.Index)
}

// threadResult names a thread in JSON.
type threadResult struct {
	Index     *int           `json:"index,omitempty" doc:"number among the threads of the OS; none for a thread that is dead or has not started"`
	OSID      uint32         `json:"osId,omitempty" doc:"OS thread id"`
	ManagedID uint32         `json:"managedId,omitempty" doc:"managed thread id"`
	Name      string         `json:"name,omitempty" doc:"name of the thread"`
	Thread    report.Address `json:"thread,omitempty" doc:"the runtime's Thread"`
}

func newThreadResult(c *cli.Context, t *sosgo.Thread) threadResult {
	r := threadResult{OSID: t.ID(), Name: threadName(c, t)}
	if t.Index >= 0 {
		r.Index = &t.Index
	}
	if t.Managed != nil {
		r.ManagedID, r.Thread, r.OSID = t.Managed.ManagedID, report.Address(t.Managed.Addr), t.Managed.OSID
	}
	return r
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
