package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func dumpGenCommand() cli.Command {
	return cli.Command{
		Name: "dumpgen", Aliases: []string{"dg"}, Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpGen,
		Summary: "counts the objects of one generation by type, or lists those of one type",
		Options: []cli.Option{
			{Name: "mt", Kind: cli.Address, Summary: "list the objects of this MethodTable"},
			{Name: "type", Kind: cli.TypeName, Summary: "only types whose name contains this, in upper or lower case"},
		},
		Args:   []cli.Arg{{Name: "generation", Kind: cli.Str, Summary: "gen0, gen1, gen2, loh, poh or foh"}},
		Result: report.Result[answer.GenerationObjects](),
	}
}

func askDumpGen(c *cli.Context) (report.Answer, error) {
	name, _ := c.Str("generation")
	g, ok := ask.Generation(name)
	if !ok {
		return report.Answer{}, c.Usagef("%s is not a supported generation (gen0, gen1, gen2, loh, poh, foh)", name)
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	o := heap.ListOptions{Filter: &heap.Filter{}, Scan: ask.Scan(c, "scanning the heap")}
	if c.Has("mt") {
		if o.Filter.Type, err = ask.TypeFilter(c, h); err != nil {
			return report.Answer{}, err
		}
		return report.Say(h.ListGeneration(c.Context(), g, o), objecttext.Generation), nil
	}
	if part, ok := c.Str("type"); ok {
		o.Filter.Type = h.TypeContainsFold(part)
	}
	l, err := h.CountGeneration(c.Context(), g, o)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(l, objecttext.Generation), nil
}
