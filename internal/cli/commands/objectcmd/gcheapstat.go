package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/target"
)

type heapStatOptions struct {
	Unreachable bool `opt:"unreachable,iu,inclunrooted" help:"also the objects that nothing keeps alive"`
}

func gcHeapStatCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "gcheapstat", Aliases: []string{"heapstat"},
		Summary: "show how full the generations of each heap are",
	}, func(c *cli.Context, o *heapStatOptions) (*answer.GenerationSizes, error) {
		h, err := ask.ScannedHeap(c, false)
		if err != nil {
			return nil, err
		}
		var live func(target.Addr) bool
		if o.Unreachable {
			if live, err = ask.Live(c); err != nil {
				return nil, err
			}
		}
		return h.SizesWithDead(c.Context(), live, ask.Scan(c, "scanning the heap"))
	}, objecttext.GenerationSizes)
}
