package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/internal/text/objecttext"
	"github.com/sosgo/sosgo/report"
)

func dumpHeapCommand() cli.Command {
	return cli.Command{
		Name: "dumpheap", Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpHeap,
		Summary: "lists the objects of the heap, or counts them by type",
		Usage:   "[OPTIONS] [START [END|LSIZE]]",
		Help: "Objects come in address order, then statistics by type, the largest last. Where the heap is corrupt or not in the dump the walk " +
			"goes on at the next address from which objects follow each other, and a warning says so.",
		Options: append([]cli.Option{
			{Name: "stat", Kind: cli.Bool, Summary: "only the statistics"},
			{Name: "short", Kind: cli.Bool, Summary: "only addresses, one a line, for scripts"},
			{Name: "strings", Kind: cli.Bool, Summary: "only strings, counted by their content"},
			{Name: "thinlock", Kind: cli.Bool, Summary: "only objects that are locked through their header"},
			{Name: "bycount", Kind: cli.Bool, Summary: "sort the statistics by the number of objects"},
			{Name: "live", Kind: cli.Bool, Summary: "only objects that something keeps alive: see gcroot"},
			{Name: "dead", Kind: cli.Bool, Summary: "only objects that nothing keeps alive, and free blocks"},
			{Name: "ignoregcstate", Kind: cli.Bool, Summary: "no word about a heap that a garbage collection was changing"},
			{Name: "noprogress", Kind: cli.Bool, Summary: "no progress display"},
		}, ask.FilterOptions()...),
		Args: ask.RangeArgs(),
		Examples: []cli.Example{
			{Line: "dumpheap -stat", Text: "what fills the heap"},
			{Line: "dumpheap -type Order -min 1k", Text: "large objects of types whose name contains Order"},
			{Line: "dumpheap -strings -stat", Text: "strings that are there many times"},
		},
		Result: report.Result[answer.Listing](),
	}
}

func askDumpHeap(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, c.Bool("ignoregcstate"))
	if err != nil {
		return report.Answer{}, err
	}
	o := heap.ListOptions{OnlyObjects: c.Bool("short"), ByCount: c.Bool("bycount"), Scan: scanOptions(c)}
	if o.Filter, err = ask.Chosen(c, h); err != nil {
		return report.Answer{}, err
	}
	if o.Filter.Range, err = ask.AddressRange(c); err != nil {
		return report.Answer{}, err
	}
	l, err := listing(c, h, o)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(l, func(p *report.Page, l *answer.Listing) {
		objecttext.Listing(p, l, objecttext.ListingOptions{Short: c.Bool("short")})
	}), nil
}

// listing asks what the options want to know.
func listing(c *cli.Context, h *heap.Heap, o heap.ListOptions) (*answer.Listing, error) {
	switch {
	case c.Bool("thinlock"):
		return h.ListLocks(c.Context(), o)
	case c.Bool("strings") && c.Bool("stat"):
		return h.CountStrings(c.Context(), o), nil
	case c.Bool("strings"):
		return h.ListStrings(c.Context(), o), nil
	case c.Bool("stat"):
		return h.Count(c.Context(), o)
	}
	return h.List(c.Context(), o), nil
}

// scanOptions are those of a command that has -noprogress.
func scanOptions(c *cli.Context) heap.ScanOptions {
	if c.Bool("noprogress") {
		return heap.ScanOptions{Jobs: c.Jobs}
	}
	return ask.Scan(c, "scanning the heap")
}
