package objectcmd

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/target"
)

type eeheapOptions struct {
	GC     bool `opt:"gc" help:"only the GC heap"`
	Loader bool `opt:"loader" help:"only the loader heaps"`
	ask.Segments

	total bool // both were read
}

func eeheapCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:     "eeheap",
		Summary:  "show the memory of the GC heap and of the loader heaps",
		Help:     "Without -gc and -loader both are shown. -heap and -segment choose a part of the GC heap.",
		Examples: []cli.Example{{Line: "eeheap -gc", Text: "the generations and their segments"}},
	}, askEEHeap, func(p *report.Page, h *answer.RuntimeHeaps, o *eeheapOptions) {
		objecttext.RuntimeHeaps(p, h, objecttext.RuntimeHeapsOptions{Total: o.total})
	})
}

func askEEHeap(c *cli.Context, o *eeheapOptions) (*answer.RuntimeHeaps, error) {
	both := o.GC == o.Loader
	heaps := &answer.RuntimeHeaps{}
	if o.Loader || both {
		rt, err := ask.Runtime(c)
		if err != nil {
			return nil, err
		}
		switch heaps.LoaderHeaps, err = rt.LoaderHeaps(); {
		case err == nil:
			heaps.Gaps = heaps.LoaderHeaps.Gaps
		case both && errors.Is(err, target.ErrUnsupported):
			heaps.LoaderHeaps = nil
			heaps.Note(fmt.Errorf("loader heaps: %w", err))
		default:
			return nil, err
		}
	}
	var err error
	if o.GC || both {
		heaps.GC, err = gcHeap(c, o, &heaps.Gaps)
	}
	o.total = !o.GC && !o.Loader && err == nil
	return heaps, cli.WithAnswer(err)
}

// gcHeap describes the selected part of the GC heap and notes its missing parts.
func gcHeap(c *cli.Context, o *eeheapOptions, g *answer.Gaps) (*answer.GCHeap, error) {
	h, err := ask.View(c).Heap()
	if err != nil {
		return nil, err
	}
	for _, w := range h.Warnings() {
		g.Note(w)
	}
	keep, err := o.Segments.Of(c, h)
	if err != nil {
		return nil, err
	}
	return h.Overview(keep), nil
}

type heapStatOptions struct {
	Unreachable bool `opt:"unreachable,iu,inclunrooted" help:"also the objects that nothing keeps alive"`
}

func gcHeapStatCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "gcheapstat", Aliases: []string{"heapstat"},
		Summary: "show how full the generations of each heap are",
	}, func(c *cli.Context, o *heapStatOptions) (*answer.GenerationSizes, error) {
		return memory.Generations(ask.Context(c), ask.View(c), memory.GenerationsOptions{Dead: o.Unreachable})
	}, objecttext.GenerationSizes)
}

func sizeStatsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "sizestats",
		Summary: "count objects and free blocks of each generation by size",
		Help:    "The cumulative columns sum the lines above.",
	}, ask.Plain(memory.SizeStatistics), objecttext.SizeStatistics)
}

func analyzeOOMCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "analyzeoom",
		Summary: "explain the last failed allocations of the garbage collector",
		Help: "Each heap of the collector records the last allocation that failed in it. It does not record an OutOfMemoryException " +
			"that other code threw: dumpexceptions -type OutOfMemory finds those. leaks and dumpheap -stat show what fills the heap.",
	}, ask.Plain(memory.OutOfMemory), objecttext.OutOfMemory)
}
