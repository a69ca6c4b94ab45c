package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func sizeStatsCommand() cli.Command {
	return cli.Command{
		Name: "sizestats", Group: cli.GroupObjects, NeedsDump: true, Ask: askSizeStats,
		Summary: "counts objects and free blocks of each generation by size",
		Help:    "The cumulative columns are of the lines above.",
		Result:  report.Result[answer.SizeStatistics](),
	}
}

func askSizeStats(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	s, err := h.SizeHistograms(c.Context(), ask.Scan(c, "scanning the heap"))
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(s, objecttext.SizeStatistics), nil
}
