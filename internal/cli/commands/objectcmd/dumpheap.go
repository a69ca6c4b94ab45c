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

type heapOptions struct {
	Stat     bool `opt:"stat" help:"only the statistics"`
	Short    bool `opt:"short" help:"only addresses, one a line, for scripts"`
	Strings  bool `opt:"strings" help:"only strings, counted by their content"`
	ThinLock bool `opt:"thinlock" help:"only objects that are locked through their header"`
	ByCount  bool `opt:"bycount" help:"statistics ordered by number of objects"`
	ask.Liveness
	Where  string `opt:"where" kind:"expression" value:"EXPR" help:"only objects for which the expression is true (see query)"`
	Select string `opt:"select" kind:"expression" value:"COLUMNS" excludes:"stat,short,strings,thinlock,bycount" help:"a table of these expressions instead: address, size, Name"`
	quiet
	ask.Filter
	ask.Range
}

func dumpHeapCommand() cli.Command {
	return cli.Do(cli.Command{
		Name: "dumpheap", OnlyAsks: true,
		Summary: "list the objects of the heap, or count them by type",
		Usage:   "[OPTIONS] [START [END|LSIZE]]",
		Help: "Objects come in address order, then statistics by type, the largest last. Where the heap is corrupt or not in the dump the walk " +
			"goes on at the next address from which objects follow each other, and a warning reports the gap.",
		Examples: []cli.Example{
			{Line: "dumpheap -stat", Text: "what fills the heap"},
			{Line: "dumpheap -type Order -min 1k", Text: "large objects of types whose name contains Order"},
			{Line: "dumpheap -type Order -where 'Total > 100' -select 'address, Total, Customer.Name'", Text: "some objects, with fields of theirs"},
			{Line: "dumpheap -strings -stat", Text: "strings that are there many times"},
		},
		Result: report.Result[answer.Listing](),
	}, askDumpHeap)
}

func askDumpHeap(c *cli.Context, o *heapOptions) (report.Answer, error) {
	f, h, err := o.chosen(c)
	if err != nil {
		return report.Answer{}, err
	}
	if o.Select != "" {
		q, err := o.table(c, f)
		return ask.Say(q, err, querytext.Listing)
	}
	l, err := o.list(c, h, f)
	return ask.Say(l, err, func(p *report.Page, l *answer.Listing) {
		objecttext.Listing(p, l, objecttext.ListingOptions{Short: o.Short})
	})
}

// chosen returns the filter of the objects that the options choose.
func (o *heapOptions) chosen(c *cli.Context) (*heap.Filter, *heap.Heap, error) {
	h, err := ask.ScannedHeap(c, o.IgnoreGCState)
	if err != nil {
		return nil, nil, err
	}
	f, err := ask.Chosen(c, h, &o.Filter, &o.Liveness)
	if err != nil {
		return nil, nil, err
	}
	f.Range, err = o.Range.Of(c)
	return f, h, err
}

// table makes the table of -select.
func (o *heapOptions) table(c *cli.Context, f *heap.Filter) (*answer.Listing, error) {
	p, err := ask.QueryProcess(c)
	if err != nil {
		return nil, err
	}
	q, err := query.Select(c.Context(), p, o.Where, o.Select, query.Options{Filter: f})
	if err != nil {
		return nil, ask.Misread(c, err)
	}
	return q.Listing(), nil
}

// list lists or counts the objects.
func (o *heapOptions) list(c *cli.Context, h *heap.Heap, f *heap.Filter) (*answer.Listing, error) {
	if o.Where != "" {
		p, err := ask.QueryProcess(c)
		if err != nil {
			return nil, err
		}
		chosen, err := query.Chooses(c.Context(), p, o.Where, f)
		if err != nil {
			return nil, ask.Misread(c, err)
		}
		f.Where = chosen.Filter
		c.AtEnd(func() {
			if err := chosen.Undecided(); err != nil {
				c.Warn(err)
			}
		})
	}
	l, err := o.question(c, h, heap.ListOptions{Filter: f, OnlyObjects: o.Short, ByCount: o.ByCount, Scan: o.scan(c)})
	c.AtEnd(func() {
		if err == nil && l.Statistics != nil && l.Count == 0 {
			ask.NothingFound(c)
		}
	})
	return l, err
}

func (o *heapOptions) question(c *cli.Context, h *heap.Heap, lo heap.ListOptions) (*answer.Listing, error) {
	switch {
	case o.ThinLock:
		return h.ListLocks(c.Context(), lo)
	case o.Strings && o.Stat:
		return h.CountStrings(c.Context(), lo), nil
	case o.Strings:
		return h.ListStrings(c.Context(), lo), nil
	case o.Stat:
		return h.Count(c.Context(), lo)
	}
	return h.List(c.Context(), lo), nil
}
