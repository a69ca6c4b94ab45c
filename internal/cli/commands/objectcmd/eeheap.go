package objectcmd

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

func eeheapCommand() cli.Command {
	return cli.Command{
		Name: "eeheap", Group: cli.GroupObjects, NeedsDump: true, Ask: askEEHeap,
		Summary: "shows the memory of the GC heap and of the loader heaps",
		Help:    "Without -gc and -loader it shows both. -heap and -segment choose a part of the GC heap.",
		Options: []cli.Option{
			{Name: "gc", Kind: cli.Bool, Summary: "only the GC heap"},
			{Name: "loader", Kind: cli.Bool, Summary: "only the loader heaps"},
			{Name: "heap", Kind: cli.Int, Summary: "only this heap of a server GC"},
			{Name: "segment", Kind: cli.Address, Summary: "only this segment or region: its address or one in it"},
		},
		Examples: []cli.Example{{Line: "eeheap -gc", Text: "the generations and their segments"}},
		Result:   report.Result[answer.RuntimeHeaps](),
	}
}

func askEEHeap(c *cli.Context) (report.Answer, error) {
	gc, loader := c.Bool("gc"), c.Bool("loader")
	both := gc == loader
	heaps := &answer.RuntimeHeaps{}
	if loader || both {
		rt, err := ask.Runtime(c)
		if err != nil {
			return report.Answer{}, err
		}
		switch heaps.LoaderHeaps, err = rt.LoaderHeaps(); {
		case err == nil:
			heaps.Gaps = heaps.LoaderHeaps.Gaps
		case both && errors.Is(err, target.ErrUnsupported):
			heaps.LoaderHeaps = nil
			heaps.Note(fmt.Errorf("loader heaps: %w", err))
		default:
			return report.Answer{}, err
		}
	}
	var err error
	if gc || both {
		heaps.GC, err = gcHeap(c, &heaps.Gaps)
	}
	return report.Say(heaps, func(p *report.Page, h *answer.RuntimeHeaps) {
		objecttext.RuntimeHeaps(p, h, objecttext.RuntimeHeapsOptions{Total: !gc && !loader && err == nil})
	}), err
}

// gcHeap asks for the part of the GC heap that options choose; what the heap
// lacks is noted behind what loader heaps lack.
func gcHeap(c *cli.Context, g *answer.Gaps) (*answer.GCHeap, error) {
	h, err := ask.View(c).Heap()
	if err != nil {
		return nil, err
	}
	for _, w := range h.Warnings() {
		g.Note(w)
	}
	keep, err := ask.SegmentFilter(c, h)
	if err != nil {
		return nil, err
	}
	return h.Overview(keep), nil
}
