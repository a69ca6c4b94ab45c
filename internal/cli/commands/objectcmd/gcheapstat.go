package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func gcHeapStatCommand() cli.Command {
	return cli.Command{
		Name: "gcheapstat", Aliases: []string{"heapstat"}, Group: cli.GroupObjects, NeedsDump: true, Ask: askGCHeapStat,
		Summary: "shows how full the generations of each heap are",
		Options: []cli.Option{
			{Name: "unreachable", Aliases: []string{"iu", "inclunrooted"}, Kind: cli.Bool, Summary: "also the objects that nothing keeps alive"},
		},
		Result: report.Result[answer.GenerationSizes](),
	}
}

func askGCHeapStat(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	var live func(target.Addr) bool
	if c.Bool("unreachable") {
		if live, err = ask.Live(c); err != nil {
			return report.Answer{}, err
		}
	}
	s, err := h.SizesWithDead(c.Context(), live, ask.Scan(c, "scanning the heap"))
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(s, objecttext.GenerationSizes), nil
}
