package objectcmd

import (
	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
)

func sizeStatsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "sizestats",
		Summary: "count objects and free blocks of each generation by size",
		Help:    "The cumulative columns sum the lines above.",
	}, ask.Plain((*sosgo.View).SizeStatistics), objecttext.SizeStatistics)
}
