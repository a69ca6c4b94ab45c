package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/target"
)

type generationOptions struct {
	MT         *target.Addr   `opt:"mt" help:"the objects of this MethodTable, listed"`
	Type       string         `opt:"type" kind:"type" help:"only types whose name contains this, in upper or lower case"`
	Generation ask.Generation `arg:"generation" help:"gen0, gen1, gen2, loh, poh or foh"`
}

func dumpGenCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "dumpgen", Aliases: []string{"dg"},
		Summary: "count the objects of one generation by type, or list those of one type",
	}, askDumpGen, objecttext.Generation)
}

func askDumpGen(c *cli.Context, o *generationOptions) (*answer.GenerationObjects, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return nil, err
	}
	g, list := heap.Generation(o.Generation), heap.ListOptions{Filter: &heap.Filter{}, Scan: ask.Scan(c, "scanning the heap")}
	if o.MT != nil {
		if list.Filter.Type, err = (&ask.Types{MT: o.MT, Type: o.Type}).Of(c, h); err != nil {
			return nil, err
		}
		return h.ListGeneration(c.Context(), g, list), nil
	}
	if o.Type != "" {
		list.Filter.Type = h.TypeContainsFold(o.Type)
	}
	return h.CountGeneration(c.Context(), g, list)
}
