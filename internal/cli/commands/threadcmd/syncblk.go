package threadcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/stackwalk/threads"
)

func syncBlkCommand() cli.Command {
	return cli.Command{
		Name: "syncblk", Group: cli.GroupThreads, NeedsDump: true, Ask: askSyncBlk,
		Summary: "list the sync blocks that are locked, and who holds them",
		Help: "MonitorHeld is 1 for the owner and 2 for each thread that waits. Locks that nobody has waited for stand in " +
			"the header of the object (dumpheap -thinlock), those of System.Threading.Lock in its fields.",
		Args:    []cli.Arg{{Name: "index", Kind: cli.Int, Optional: true, Summary: "only this sync block, locked or not"}},
		Options: []cli.Option{{Name: "all", Summary: "also those that are not locked"}},
		Result:  report.Result[answer.SyncBlocks](),
	}
}

func askSyncBlk(c *cli.Context) (report.Answer, error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	if err := rt.HasSyncBlocks(); err != nil {
		return report.Answer{}, err
	}
	list, err := ask.Threads(c)
	if err != nil {
		return report.Answer{}, err
	}
	o := threads.SyncBlockOptions{All: c.Bool("all")}
	if index, ok := c.Int("index"); ok {
		o.Index = &index
	}
	return report.Say(threads.SyncBlocks(c.Context(), rt, list, o), threadtext.SyncBlocks), nil
}
