package objectcmd

import (
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/cli/text/querytext"
	"github.com/sosgo/sosgo/internal/front/report"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

type heapOptions struct {
	Stat     bool `opt:"stat" help:"only the statistics"`
	Short    bool `opt:"short" excludes:"stat" help:"only addresses, one a line, for scripts"`
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

// chosen returns the filter for the objects that the options select.
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

// table returns the table of -select.
func (o *heapOptions) table(c *cli.Context, f *heap.Filter) (*answer.Listing, error) {
	p, err := ask.Env(c)
	if err != nil {
		return nil, err
	}
	c.Echo(o.Select)
	q, err := query.Select(c.Context(), p, o.Where, o.Select, query.Options{Filter: f})
	if err != nil {
		return nil, ask.Misread(c, err)
	}
	ask.EchoHeads(c, q.Columns)
	return q.Listing(), nil
}

// list lists or counts the objects.
func (o *heapOptions) list(c *cli.Context, h *heap.Heap, f *heap.Filter) (*answer.Listing, error) {
	if o.Where != "" {
		p, err := ask.Env(c)
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
		if err == nil && l.Statistics != nil && l.Statistics.Count == 0 {
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

type exceptionOptions struct {
	ask.Liveness
	ask.Filter
}

func dumpExceptionsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:     "dumpexceptions",
		Summary:  "list the exception objects of the heap, with message and innermost frame",
		Help:     "printexception prints one of them with its whole stack trace.",
		Examples: []cli.Example{{Line: "dumpexceptions -type Timeout", Text: "exceptions of types whose name contains Timeout"}},
	}, askDumpExceptions, objecttext.Exceptions)
}

func askDumpExceptions(c *cli.Context, o *exceptionOptions) (*answer.Exceptions, error) {
	h, err := ask.ListedHeap(c, false)
	if err != nil {
		return nil, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	f, err := ask.Chosen(c, h, &o.Filter, &o.Liveness)
	if err != nil {
		for _, w := range h.Warnings() {
			c.Warn(w) // the list would have them
		}
		return nil, err
	}
	return memory.HeapExceptions(c.Context(), r, h, f, ask.Scan(c, "scanning the heap")), nil
}

type traverseOptions struct {
	XML  bool   `opt:"xml" help:"XML"`
	File string `arg:"file" kind:"file" help:"file to write"`
}

func traverseHeapCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "traverseheap",
		Summary: "write the heap as a graph to a file: types, roots, and objects with what they refer to",
		Help: "The file has the form of the CLR Profiler, or XML. Roots are handles that keep their object alive, objects that await finalization, " +
			"and live references of stacks. Free blocks are left out. The file must not exist yet.",
		Examples: []cli.Example{{Line: "traverseheap -xml heap.xml", Text: "the heap for a program of your own"}},
	}, askTraverseHeap, objecttext.GraphFile)
}

func askTraverseHeap(c *cli.Context, o *traverseOptions) (*answer.GraphFile, error) {
	if _, err := ask.ListedHeap(c, false); err != nil {
		return nil, err
	}
	g, err := memory.HeapGraph(c.Context(), ask.View(c), ask.Scan(c, "scanning the heap"))
	if err != nil {
		return nil, err
	}
	write := objecttext.WriteGraph
	if o.XML {
		write = objecttext.WriteGraphXML
	}
	file := &answer.GraphFile{File: o.File, Types: len(g.Types), Roots: len(g.Roots)}
	if err := c.WriteText(o.File, cli.New, func(w io.Writer) (err error) {
		file.Objects, err = write(w, g)
		return err
	}); err != nil {
		for _, gap := range g.Noted() {
			c.Warn(gap)
		}
		return nil, err
	}
	file.Gaps = g.Gaps
	return file, nil
}
