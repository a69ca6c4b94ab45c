package threadcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/threadtext"
)

type syncBlockOptions struct {
	All   bool   `opt:"all" help:"also those that are not locked"`
	Index *int64 `arg:"index,optional" help:"only this sync block, locked or not"`
}

func syncBlkCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "syncblk",
		Summary: "list the locked sync blocks and their owners",
		Help: "MonitorHeld is 1 for the owner and 2 for each thread that waits. Locks that nobody has waited for stand in " +
			"the header of the object (dumpheap -thinlock), those of System.Threading.Lock in its fields.",
	}, askSyncBlk, threadtext.SyncBlocks)
}

func askSyncBlk(c *cli.Context, o *syncBlockOptions) (*answer.SyncBlocks, error) {
	return ask.View(c).SyncBlocks(ask.Context(c), sosgo.SyncBlockOptions{All: o.All, Index: o.Index})
}
