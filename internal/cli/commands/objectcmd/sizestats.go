package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
)

func sizeStatsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "sizestats",
		Summary: "count objects and free blocks of each generation by size",
		Help:    "The cumulative columns sum the lines above.",
	}, func(c *cli.Context, _ *cli.None) (*answer.SizeStatistics, error) {
		h, err := ask.ScannedHeap(c, false)
		if err != nil {
			return nil, err
		}
		return h.SizeHistograms(c.Context(), ask.Scan(c, "scanning the heap"))
	}, objecttext.SizeStatistics)
}
