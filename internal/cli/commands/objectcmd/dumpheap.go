package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/cli/text/querytext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/query"
)

func dumpHeapCommand() cli.Command {
	return cli.Command{
		Name: "dumpheap", Group: cli.GroupObjects, NeedsDump: true, OnlyAsks: true, Ask: askDumpHeap,
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
			{Name: "where", Kind: cli.Str, Value: "EXPR", Summary: "only objects for which the expression is true: see query"},
			{Name: "select", Kind: cli.Str, Value: "COLUMNS", Summary: "a table of these expressions instead: address, size, Name"},
			{Name: "ignoregcstate", Kind: cli.Bool, Summary: "no word about a heap that a garbage collection was changing"},
			{Name: "noprogress", Kind: cli.Bool, Summary: "no progress display"},
		}, ask.FilterOptions()...),
		Args: ask.RangeArgs(),
		Examples: []cli.Example{
			{Line: "dumpheap -stat", Text: "what fills the heap"},
			{Line: "dumpheap -type Order -min 1k", Text: "large objects of types whose name contains Order"},
			{Line: "dumpheap -type Order -where 'Total > 100' -select 'address, Total, Customer.Name'", Text: "some objects, with fields of theirs"},
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
	if columns, ok := c.Str("select"); ok {
		return askSelected(c, o.Filter, columns)
	}
	if where, ok := c.Str("where"); ok {
		p, err := ask.Asked(c)
		if err != nil {
			return report.Answer{}, err
		}
		chosen, err := query.Chooses(c.Context(), p, where, o.Filter)
		if err != nil {
			return report.Answer{}, ask.Misread(c, err)
		}
		o.Filter.Where = chosen.Filter
		c.AtEnd(func() {
			if err := chosen.Undecided(); err != nil {
				c.Warn(err)
			}
		})
	}
	l, err := listing(c, h, o)
	if err != nil {
		return report.Answer{}, err
	}
	c.AtEnd(func() {
		if l.Statistics != nil && l.Count == 0 {
			ask.NothingFound(c)
		}
	})
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

// askSelected is dumpheap -select.
func askSelected(c *cli.Context, f *heap.Filter, columns string) (report.Answer, error) {
	for _, name := range []string{"stat", "short", "strings", "thinlock", "bycount"} {
		if c.Bool(name) {
			return report.Answer{}, c.Usagef("-select makes a table of its own, and -%s another", name)
		}
	}
	p, err := ask.Asked(c)
	if err != nil {
		return report.Answer{}, err
	}
	where, _ := c.Str("where")
	q, err := query.Select(c.Context(), p, where, columns, query.Options{Filter: f})
	if err != nil {
		return report.Answer{}, ask.Misread(c, err)
	}
	return report.Say(q.Listing(), querytext.Listing), nil
}
