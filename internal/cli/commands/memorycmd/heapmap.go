package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
	"github.com/sosgo/sosgo/internal/report"
)

func heapMapCommand() cli.Command {
	return cli.Command{
		Name: "heapmap", Group: cli.GroupMemory, NeedsDump: true, Ask: askHeapMap,
		Summary: "draws the heap: how full each segment of each generation is",
		Help: "A line is a segment or region, a sign on it as many bytes as the line below the picture says. Segments of a heap without regions that " +
			"generations share are drawn as one line a generation. With more than 64 segments those of one generation stand on common lines. With -live it is told which " +
			"objects nothing keeps alive; frozen ones are never free, and count as alive.\n\n" +
			"Blocks of Unicode are drawn on a terminal, and ASCII elsewhere; -blocks and -ascii choose.",
		Options: []cli.Option{
			{Name: "live", Summary: "tell dead objects, which nothing keeps alive: it builds the graph of the heap"},
			{Name: "cell", Kind: cli.Size, Summary: "bytes that a sign stands for; default: so many that the picture is a page or two"},
			{Name: "ascii", Summary: "draw with ASCII, on a terminal too"},
			{Name: "blocks", Summary: "draw with blocks of Unicode, elsewhere too"},
		},
		Result: report.Result[answer.HeapMap](),
	}
}

func askHeapMap(c *cli.Context) (report.Answer, error) {
	if c.Bool("ascii") && c.Bool("blocks") {
		return report.Answer{}, c.Usagef("-ascii and -blocks exclude each other")
	}
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	mo := heap.MapOptions{Scan: ask.Scan(c, "scanning the heap")}
	mo.CellSize, _ = c.Size("cell")
	if c.Bool("live") {
		if mo.Live, err = ask.Live(c); err != nil {
			return report.Answer{}, err
		}
	}
	m, err := h.Map(c.Context(), mo)
	o := memorytext.HeapMapOptions{Blocks: !c.Bool("ascii") && (c.Bool("blocks") || c.Terminal())}
	return ask.Say(m, err, func(p *report.Page, m *answer.HeapMap) { memorytext.HeapMap(p, m, o) })
}
