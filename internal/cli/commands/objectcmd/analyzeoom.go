package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
)

func analyzeOOMCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "analyzeoom",
		Summary: "explain the last failed allocations of the garbage collector",
		Help: "Each heap of the collector records the last allocation that failed in it. It does not record an OutOfMemoryException " +
			"that other code threw: dumpexceptions -type OutOfMemory finds those. leaks and dumpheap -stat show what fills the heap.",
	}, func(c *cli.Context, _ *cli.None) (*answer.OutOfMemory, error) { return ask.View(c).OutOfMemory() }, objecttext.OutOfMemory)
}
