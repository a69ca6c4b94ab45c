package commands

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpHeapCommand() cli.Command {
	return cli.Command{
		Name: "dumpheap", Group: cli.GroupObjects, NeedsDump: true, Run: runDumpHeap,
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
			{Name: "live", Kind: cli.Bool, Summary: "only objects that something refers to"},
			{Name: "dead", Kind: cli.Bool, Summary: "only objects that nothing refers to"},
			{Name: "ignoregcstate", Kind: cli.Bool, Summary: "no word about a heap that a garbage collection was changing"},
			{Name: "noprogress", Kind: cli.Bool, Summary: "no progress display"},
		}, filterOptions()...),
		Args: []cli.Arg{
			{Name: "start", Kind: cli.Address, Optional: true, Summary: "first address"},
			{Name: "end", Kind: cli.Str, Optional: true, Summary: "address behind the last, or L and a number of bytes in hexadecimal"},
		},
		Examples: []cli.Example{
			{Line: "dumpheap -stat", Text: "what fills the heap"},
			{Line: "dumpheap -type Order -min 1k", Text: "large objects of types whose name contains Order"},
			{Line: "dumpheap -strings -stat", Text: "strings that are there many times"},
		},
		Result: []report.Part{
			report.ListOf[objectItem]("objects"),
			report.ListOf[lockItem]("locks"),
			report.ListOf[typeStatItem]("statistics"),
			report.ListOf[stringItem]("strings"),
			report.ListOf[fragmentItem]("fragments"),
			report.FieldOf[uint64]("count"),
			report.FieldOf[uint64]("size"),
		},
	}
}

// objectItem is the JSON of one object.
type objectItem struct {
	Address     report.Address `json:"address" doc:"the object"`
	MethodTable report.Address `json:"methodTable" doc:"its type"`
	Size        uint64         `json:"size" doc:"bytes"`
	Free        bool           `json:"free,omitempty" doc:"a free block and no object"`
}

// AppendJSON implements report.JSONAppender: there may be millions of them.
func (o objectItem) AppendJSON(b []byte) []byte {
	b = append(b, `{"address":"0x`...)
	b = report.AppendHex(b, uint64(o.Address), 1)
	b = append(b, `","methodTable":"0x`...)
	b = report.AppendHex(b, uint64(o.MethodTable), 1)
	b = fmt.Appendf(b, `","size":%d`, o.Size)
	if o.Free {
		b = append(b, `,"free":true`...)
	}
	return append(b, '}')
}

type lockItem struct {
	Object    report.Address `json:"object" doc:"the locked object"`
	Thread    report.Address `json:"thread" doc:"Thread that holds the lock, 0 if it is gone"`
	ManagedID uint32         `json:"managedThreadId" doc:"managed id of that thread"`
	OSID      uint32         `json:"osThreadId" doc:"its id in the operating system"`
	Recursion uint32         `json:"recursion" doc:"times that it entered again"`
}

type stringItem struct {
	Count   uint64         `json:"count" doc:"strings of this content"`
	Size    uint64         `json:"size" doc:"their total size in bytes"`
	Address report.Address `json:"address" doc:"the first of them"`
	Text    string         `json:"text" doc:"the content, at most 1024 characters"`
}

type fragmentItem struct {
	Address  report.Address `json:"address" doc:"a large free block"`
	Size     uint64         `json:"size" doc:"its size in bytes"`
	Next     report.Address `json:"next" doc:"the object right behind it"`
	NextType string         `json:"nextType" doc:"its type"`
}

// dumpHeap is one run of the command.
type dumpHeap struct {
	c      *cli.Context
	h      *heap.Heap
	rt     *dac.Runtime
	filter *heap.Filter
}

func runDumpHeap(c *cli.Context) error {
	if c.Bool("live") || c.Bool("dead") {
		return target.Unsupportedf("-live and -dead are not there yet: they need the object graph")
	}
	h, err := scannedHeap(c, c.Bool("ignoregcstate"))
	if err != nil {
		return err
	}
	d := &dumpHeap{c: c, h: h, rt: h.Runtime()}
	if d.filter, err = filterOf(c, h); err != nil {
		return err
	}
	if err := rangeOf(c, d.filter); err != nil {
		return err
	}
	switch {
	case c.Bool("thinlock"):
		return d.thinLocks()
	case c.Bool("strings"):
		return d.strings()
	case c.Bool("stat"):
		return d.statistics()
	}
	return d.objects()
}

func rangeOf(c *cli.Context, f *heap.Filter) error {
	start, ok := c.Addr("start")
	if !ok {
		return nil
	}
	f.Range = target.Range{Start: start, End: ^target.Addr(0)}
	text, ok := c.Str("end")
	if !ok {
		return nil
	}
	size, isSize := strings.CutPrefix(strings.ToUpper(text), "L")
	end, err := cli.ParseAddress(size)
	if err != nil {
		return c.Usagef("END: %v", err)
	}
	if isSize {
		end += start
	}
	if end <= start {
		return c.Usagef("the range ends at %x, before it starts", uint64(end))
	}
	f.Range.End = end
	return nil
}

// options are those of a scan, and what ends its progress display.
func (d *dumpHeap) options() (heap.ScanOptions, func()) {
	if d.c.Bool("noprogress") {
		return heap.ScanOptions{Jobs: d.c.Jobs}, func() {}
	}
	return scanOptions(d.c, "scanning the heap")
}

func (d *dumpHeap) statistics() error {
	o, done := d.options()
	s, err := d.h.Stats(d.c.Context(), d.filter, o)
	done()
	if err != nil {
		return err
	}
	return d.printStats(&s)
}

// objects lists objects, and statistics behind them.
func (d *dumpHeap) objects() error {
	total := heap.NewCounter(d.h, d.filter)
	if err := d.list(d.filter, func(b *objectList) { total.Add(b.Counter) }); err != nil {
		return err
	}
	s := total.Stats()
	if d.c.Bool("short") {
		return warnCorrupt(d.c, &s)
	}
	return d.printStats(&s)
}

// list prints objects in address order.
func (d *dumpHeap) list(f *heap.Filter, each func(*objectList)) error {
	o, done := d.options()
	defer done()
	header := d.c.JSON() == nil && !d.c.Bool("short")
	if enc := d.c.JSON(); enc != nil {
		if err := enc.List("objects"); err != nil {
			return err
		}
	}
	return heap.Scan(d.c.Context(), d.h, d.h.Spans(f), o, func() *objectList { return newObjectList(d, f) }, func(l *objectList) error {
		if each != nil {
			each(l)
		}
		if header && l.out.Len() > 0 {
			header = false
			if err := objectTable(d.c.Out).Header(); err != nil {
				return err
			}
		}
		for _, item := range l.items {
			if err := d.c.JSON().Item("objects", item); err != nil {
				return err
			}
		}
		_, err := d.c.Out.Write(l.out.Bytes())
		return err
	})
}

func (d *dumpHeap) printStats(s *heap.Stats) error {
	if err := warnCorrupt(d.c, s); err != nil {
		return err
	}
	sortStats(d.c, s)
	if d.c.JSON() != nil {
		return d.encodeStats(s)
	}
	if s.Count == 0 {
		return nil
	}
	if !d.c.Bool("stat") {
		d.c.Printf("\n")
	}
	d.c.Printf("Statistics:\n")
	t := report.NewTable(d.c.Out,
		report.Column{Name: "MT", Kind: report.Pointer, Fit: true},
		report.Column{Name: "Count", Kind: report.Integer, Fit: true},
		report.Column{Name: "TotalSize", Kind: report.Integer, Fit: true},
		report.Column{Name: "Class Name", Kind: report.TypeName})
	t.Header()
	for _, e := range s.Types {
		t.Uint(uint64(e.Type.Addr))
		t.Uint(e.Count)
		t.Uint(e.Size)
		t.Text(typeNameOr(d.c, d.rt, e.Type.Addr))
		t.End()
	}
	if err := t.Flush(); err != nil {
		return err
	}
	d.c.Printf("Total %s objects, %s bytes\n", report.Commas(s.Count), report.Commas(s.Size))
	return d.printFragments(s.Fragments)
}

func sortStats(c *cli.Context, s *heap.Stats) {
	if c.Bool("bycount") {
		s.ByCount()
		return
	}
	s.BySize()
}

func (d *dumpHeap) printFragments(list []heap.Fragment) error {
	if len(list) == 0 {
		return nil
	}
	d.c.Printf("\nFragmented blocks larger than 0.5 MB:\n")
	t := report.NewTable(d.c.Out,
		report.Column{Name: "Address", Kind: report.Pointer},
		report.Column{Name: "Size", Kind: report.Integer},
		report.Column{Name: "Followed By", Kind: report.Pointer},
		report.Column{Kind: report.TypeName})
	t.Header()
	for _, f := range list {
		t.Uint(uint64(f.Free.Addr))
		t.Uint(f.Free.Size)
		t.Uint(uint64(f.Next.Addr))
		t.Text(typeNameOr(d.c, d.rt, f.Next.Type.Addr))
		if err := t.End(); err != nil {
			return err
		}
	}
	return nil
}

func (d *dumpHeap) encodeStats(s *heap.Stats) error {
	enc := d.c.JSON()
	if err := enc.List("statistics"); err != nil {
		return err
	}
	for _, e := range s.Types {
		item := typeStatItem{report.Address(e.Type.Addr), e.Count, e.Size, typeNameOr(d.c, d.rt, e.Type.Addr)}
		if err := enc.Item("statistics", item); err != nil {
			return err
		}
	}
	for _, f := range s.Fragments {
		item := fragmentItem{report.Address(f.Free.Addr), f.Free.Size, report.Address(f.Next.Addr), typeNameOr(d.c, d.rt, f.Next.Type.Addr)}
		if err := enc.Item("fragments", item); err != nil {
			return err
		}
	}
	if err := enc.Field("count", s.Count); err != nil {
		return err
	}
	return enc.Field("size", s.Size)
}

// objectTable is the table of objects: the text of the last column says Free,
// and in sosgo's own form what a string says.
func objectTable(out interface{ Write([]byte) (int, error) }) *report.Table {
	return report.NewTable(out,
		report.Column{Name: "Address", Kind: report.Pointer},
		report.Column{Name: "MT", Kind: report.Pointer},
		report.Column{Name: "Size", Kind: report.Integer},
		report.Column{Kind: report.Text})
}

// An objectList is a heap.Collector of finished lines, or of items for JSON.
type objectList struct {
	*heap.Counter
	sieve *heap.Sieve
	d     *dumpHeap
	short bool
	text  bool // show what strings say
	out   bytes.Buffer
	table *report.Table
	items []objectItem
}

func newObjectList(d *dumpHeap, f *heap.Filter) *objectList {
	l := &objectList{Counter: heap.NewCounter(d.h, f), sieve: heap.NewSieve(f), d: d, short: d.c.Bool("short"), text: !d.c.SOS}
	l.table = objectTable(&l.out)
	return l
}

func (l *objectList) Objects(s *heap.Segment, batch []heap.Object) {
	for i := range batch {
		if o := &batch[i]; l.sieve.Pass(o) {
			l.Count(s, o)
			l.add(o)
		}
	}
}

func (l *objectList) add(o *heap.Object) {
	switch {
	case l.d.c.JSON() != nil:
		l.items = append(l.items, objectItem{report.Address(o.Addr), report.Address(o.Type.Addr), o.Size, o.Free})
	case l.short:
		l.out.Write(append(report.AppendHex(l.out.AvailableBuffer(), uint64(o.Addr), 12), '\n'))
	default:
		l.table.Uint(uint64(o.Addr))
		l.table.Uint(uint64(o.Type.Addr))
		l.table.Uint(o.Size)
		l.table.Text(l.note(o))
		l.table.End()
	}
}

func (l *objectList) note(o *heap.Object) string {
	if o.Free {
		return "Free"
	}
	if !l.text || o.Type.Addr != l.d.rt.WellKnown().String {
		return ""
	}
	const shown = 64
	text, whole, err := l.d.h.StringText(o.Addr, shown)
	switch {
	case err != nil:
		return "<not in dump>"
	case !whole:
		return fmt.Sprintf("%q...", text)
	}
	return fmt.Sprintf("%q", text)
}

func (l *objectList) Reset() {
	l.Counter.Reset()
	l.out.Reset()
	l.items = l.items[:0]
}
