package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/front/report"
)

type heapMapOptions struct {
	Live bool `opt:"live" help:"mark dead objects, which nothing keeps alive (builds the graph of the heap)"`
	heap.MapOptions
	ASCII  bool `opt:"ascii" excludes:"blocks" help:"ASCII, on a terminal too"`
	Blocks bool `opt:"blocks" help:"blocks of Unicode, elsewhere too"`
}

func heapMapCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "heapmap",
		Summary: "draw the heap: how full each segment of each generation is",
		Help: "A line is a segment or region; the line below the picture gives the bytes of a sign. Segments of a heap without regions that " +
			"generations share are drawn as one line a generation. With more than 64 segments those of one generation stand on common lines. With -live " +
			"dead objects are marked; frozen ones are never free, and count as alive.\n\n" +
			"Blocks of Unicode are drawn on a terminal, and ASCII elsewhere; -blocks and -ascii choose.",
	}, askHeapMap, func(p *report.Page, m *answer.HeapMap, o *heapMapOptions) {
		memorytext.HeapMap(p, m, memorytext.HeapMapOptions{Blocks: o.Blocks})
	})
}

func askHeapMap(c *cli.Context, o *heapMapOptions) (*answer.HeapMap, error) {
	o.Blocks = !o.ASCII && (o.Blocks || c.Terminal())
	return memory.HeapMap(ask.Context(c), ask.View(c), memory.HeapMapOptions{CellSize: o.CellSize, Dead: o.Live})
}

func ephRefsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ephrefs",
		Summary: "list the objects of older generations that refer to younger ones",
		Help: "A collection of young generations has to look at these objects, and keeps alive what they refer to, though they may be garbage " +
			"themselves. Rows with many references are where such collections spend their time.",
	}, ask.Plain(memory.OldReferences), memorytext.OldReferences)
}

func ephToLOHCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ephtoloh",
		Summary: "list the references between young objects and large ones",
		Help: "Only a collection of generation 2 frees large objects. One that refers to young objects keeps them alive until then, garbage or not; " +
			"where a young object refers to a large one that refers to young ones, short-lived data lives long.",
	}, ask.Plain(memory.LargeReferences), memorytext.LargeReferences)
}
