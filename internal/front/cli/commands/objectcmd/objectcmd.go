// Package objectcmd holds the commands about objects and the heap. Each turns its options into a call of the library
// and names the renderer of the answer. It computes nothing itself. Start with Commands.
package objectcmd

import (
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
)

// Commands returns the commands of the group.
func Commands() []cli.Command {
	return cli.In(cli.GroupObjects,
		analyzeOOMCommand(),
		dumpExceptionsCommand(),
		dumpGenCommand(),
		dumpHeapCommand(),
		eeheapCommand(),
		finalizeQueueCommand(),
		gcHandlesCommand(),
		gcHeapStatCommand(),
		dumpObjCommand(),
		dumpVCCommand(),
		dumpArrayCommand(),
		dumpObjGCRefsCommand(),
		dumpDelegateCommand(),
		itemsCommand(),
		dumpDictionaryCommand(),
		dumpConcurrentDictionaryCommand(),
		dumpConcurrentQueueCommand(),
		dumpStringCommand(),
		gcWhereCommand(),
		listNearObjCommand(),
		notReachableCommand(),
		objSizeCommand(),
		sizeStatsCommand(),
		traverseHeapCommand(),
		verifyHeapCommand(),
		verifyObjCommand(),
	)
}

// An object is the argument of commands that take only an object.
type object struct {
	Object cli.Object `arg:"address" help:"the object"`
}

// statistics are the options that sort and shorten a list of objects.
type statistics struct {
	Stat    bool `opt:"stat" help:"only the statistics"`
	Short   bool `opt:"short" help:"only addresses, one a line, for scripts"`
	ByCount bool `opt:"bycount" help:"statistics ordered by number of objects"`
}

// quiet are the options that suppress warnings and progress.
type quiet struct {
	IgnoreGCState bool `opt:"ignoregcstate" help:"no warning of a heap that a garbage collection was changing"`
	NoProgress    bool `opt:"noprogress" help:"no progress display"`
}

// scan returns the options of a scan.
func (q *quiet) scan(c *cli.Context) heap.ScanOptions {
	if q.NoProgress {
		return heap.ScanOptions{Jobs: c.Jobs}
	}
	return ask.Scan(c, "scanning the heap")
}
