package commands

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func gcHandlesCommand() cli.Command {
	return cli.Command{
		Name: "gchandles", Group: cli.GroupObjects, NeedsDump: true, Run: runGCHandles,
		Summary: "lists the GC handles and what they refer to",
		Help: "Strong, Pinned, AsyncPinned and SizedRef handles keep an object alive; a Dependent one keeps the object in the column Data " +
			"alive as long as the other lives; the weak ones keep nothing alive.",
		Options: []cli.Option{
			{Name: "stat", Kind: cli.Bool, Summary: "only the statistics"},
			{Name: "type", Kind: cli.Str, Value: "TYPE", Summary: "only handles of this type, such as Pinned, Strong, WeakLong or Dependent"},
			{Name: "perdomain", Kind: cli.Bool, Summary: "statistics for each application domain"},
		},
		Examples: []cli.Example{{Line: "gchandles -type Pinned", Text: "what can't be moved"}},
		Result: []report.Part{
			report.ListOf[handleItem]("handles"),
			report.ListOf[typeStatItem]("statistics"),
			report.ListOf[handleCountItem]("counts"),
			report.FieldOf[uint64]("count"),
		},
	}
}

type handleItem struct {
	Address    report.Address `json:"address" doc:"the handle"`
	Type       string         `json:"type" doc:"Strong, Pinned, WeakShort, WeakLong, Dependent, ..."`
	Object     report.Address `json:"object" doc:"the object"`
	Size       uint64         `json:"size" doc:"its size in bytes; 0 if it can't be read"`
	ObjectType string         `json:"objectType" doc:"its type"`
	Dependent  report.Address `json:"dependent,omitempty" doc:"what a Dependent handle keeps alive as long as the object lives"`
	Extra      report.Address `json:"extra,omitempty" doc:"second word of a handle of another type that has one"`
	Table      int            `json:"table" doc:"index of the table that the handle is in, 0 for a workstation GC"`
}

type handleCountItem struct {
	Type  string `json:"type" doc:"type of handle"`
	Count uint64 `json:"count" doc:"number of handles"`
}

// handleLabels are SOS's names of the types of handles, in its order.
var handleLabels = [...]struct {
	typ   heap.HandleType
	label string
}{
	{heap.HandleStrong, "Strong Handles:"},
	{heap.HandlePinned, "Pinned Handles:"},
	{heap.HandleAsyncPinned, "Async Pinned Handles:"},
	{heap.HandleRefCounted, "Ref Count Handles:"},
	{heap.HandleWeakLong, "Weak Long Handles:"},
	{heap.HandleWeakShort, "Weak Short Handles:"},
	{heap.HandleWeakNativeCOM, "Weak WinRT Handles:"},
	{heap.HandleWeakInteriorPointer, "Weak Interior Pointer Handles:"},
	{heap.HandleVariable, "Variable Handles:"},
	{heap.HandleSizedRef, "SizedRef Handles:"},
	{heap.HandleDependent, "Dependent Handles:"},
	{heap.HandleCrossReference, "Other Handles:"},
}

// handleType parses the name of a type.
func handleType(name string) (heap.HandleType, bool) {
	for _, l := range handleLabels {
		if strings.EqualFold(name, l.typ.String()) {
			return l.typ, true
		}
	}
	return 0, false
}

// The widths of the columns of types and of their labels.
const (
	typeWidth  = 11
	labelWidth = 21
)

// cut fits a text into a column as SOS does: the rest of it is lost.
func (p *handlePrinter) cut(s string, width int) string {
	if p.c.SOS && len(s) > width {
		return s[:width]
	}
	return s
}

// typeStatItem is the JSON of one line of statistics.
type typeStatItem struct {
	MethodTable report.Address `json:"methodTable" doc:"the type"`
	Count       uint64         `json:"count" doc:"objects of the type"`
	Size        uint64         `json:"size" doc:"their total size in bytes"`
	Type        string         `json:"type" doc:"name of the type"`
}

// A handlePrinter prints handles and counts them.
type handlePrinter struct {
	c       *cli.Context
	h       *heap.Heap
	rt      *dac.Runtime
	only    heap.HandleType
	hasOnly bool
	byType  map[target.Addr]*typeStatItem
	counts  map[heap.HandleType]uint64
	total   uint64
}

func runGCHandles(c *cli.Context) error {
	p := &handlePrinter{c: c, byType: map[target.Addr]*typeStatItem{}, counts: map[heap.HandleType]uint64{}}
	if name, ok := c.Str("type"); ok {
		if p.only, p.hasOnly = handleType(name); !p.hasOnly {
			return c.Usagef("Unknown handle type '%s'.", name)
		}
	}
	var err error
	if p.h, err = heapOf(c); err != nil {
		return err
	}
	p.rt = p.h.Runtime()
	if c.JSON() != nil {
		if err := c.JSON().List("handles"); err != nil {
			return err
		}
	} else if !c.Bool("stat") {
		c.Printf("%16s %-11s %16s %8s %16s %s\n", "Handle", "Type", "Object", "Size", "Data", "Type")
	}
	if err := p.handles(); err != nil {
		return err
	}
	return p.end()
}

// handles prints them all, table by table and by type, as SOS does. What can't
// be read is a warning, unless nothing can.
func (p *handlePrinter) handles() error {
	var failed []error
	var list []heap.Handle
	for e, err := range p.h.Handles() {
		if err := p.c.Context().Err(); err != nil {
			return err
		}
		if err != nil {
			failed = append(failed, err)
		}
		// SOS does not look at the tables of processors without a heap.
		if e.Object == 0 || p.hasOnly && e.Type != p.only || p.c.SOS && e.Table >= len(p.h.SubHeaps()) {
			continue
		}
		list = append(list, e)
	}
	if len(list) == 0 && len(failed) > 0 {
		return failed[0]
	}
	for _, err := range failed {
		p.c.Warn(err)
	}
	slices.SortStableFunc(list, func(a, b heap.Handle) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Type, b.Type))
	})
	for i := range list {
		if err := p.handle(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *handlePrinter) handle(e *heap.Handle) error {
	item := handleItem{Address: report.Address(e.Addr), Type: e.Type.String(), Object: report.Address(e.Object), Table: e.Table}
	if item.Dependent = report.Address(e.Dependent()); e.Type != heap.HandleDependent {
		item.Extra = report.Address(e.Extra)
	}
	o, err := p.h.ObjectAt(e.Object)
	if err != nil {
		item.ObjectType = absent(p.c, fmt.Errorf("object of handle %016x: %w", uint64(e.Addr), err))
		if p.c.SOS {
			item.ObjectType = "<error>"
		}
	} else {
		item.Size = o.Size
		item.ObjectType = p.count(&o)
	}
	p.total++
	p.counts[e.Type]++
	switch {
	case p.c.JSON() != nil:
		return p.c.JSON().Item("handles", item)
	case !p.c.Bool("stat"):
		p.row(e, &item)
	}
	return nil
}

// count adds an object to the statistics and names its type.
func (p *handlePrinter) count(o *heap.Object) string {
	s := p.byType[o.Type.Addr]
	if s == nil {
		name, err := p.rt.TypeName(o.Type.Addr, dac.NameNative)
		s = &typeStatItem{MethodTable: report.Address(o.Type.Addr), Type: textOr(p.c, name, err)}
		p.byType[o.Type.Addr] = s
	}
	s.Count++
	s.Size += o.Size
	return s.Type
}

// shownExtra are the types whose second word is shown.
var shownExtra = [...]heap.HandleType{heap.HandleDependent, heap.HandleWeakNativeCOM, heap.HandleWeakInteriorPointer}

func (p *handlePrinter) row(e *heap.Handle, item *handleItem) {
	data := ""
	if slices.Contains(shownExtra[:], e.Type) {
		data = report.Hex16(e.Extra)
	}
	p.c.Printf("%s %-*s %s %8d %16s %s\n", report.Hex16(e.Addr), typeWidth, p.cut(item.Type, typeWidth), report.Hex16(e.Object), item.Size, data,
		report.Escape(item.ObjectType))
}

// statistics are those by type, the largest last.
func (p *handlePrinter) statistics() []*typeStatItem {
	list := make([]*typeStatItem, 0, len(p.byType))
	for _, s := range p.byType {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *typeStatItem) int {
		return cmp.Or(cmp.Compare(a.Size, b.Size), cmp.Compare(b.MethodTable, a.MethodTable))
	})
	return list
}

func (p *handlePrinter) end() error {
	if p.c.JSON() != nil {
		return p.encodeEnd()
	}
	if !p.c.Bool("stat") && !p.c.Bool("perdomain") {
		p.c.Printf("\n")
	}
	if p.c.Bool("perdomain") {
		if err := p.domainHeadings(); err != nil {
			return err
		}
	}
	p.printStatistics(p.statistics(), p.total)
	if !p.hasOnly {
		p.printCounts(p.counts)
	}
	return nil
}

// domainHeadings prints what stands before the statistics of the application
// domain, which has all handles: the system domain, which has none.
func (p *handlePrinter) domainHeadings() error {
	system, err := p.rt.SystemDomain()
	if err != nil {
		return err
	}
	p.domainHeading(system, " (System Domain)")
	p.printStatistics(nil, 0)
	if !p.hasOnly {
		p.printCounts(nil)
	}
	domain, err := p.rt.AppDomain()
	if err != nil {
		return err
	}
	p.domainHeading(domain.Addr, "")
	return nil
}

func (p *handlePrinter) domainHeading(a target.Addr, note string) {
	p.c.Printf("%s\nGC Handle Statistics for AppDomain %s%s\n\n", strings.Repeat("-", 78), report.Hex16(a), note)
}

func (p *handlePrinter) printStatistics(list []*typeStatItem, total uint64) {
	p.c.Printf("Statistics:\n%16s %8s %12s %s\n", "MT", "Count", "TotalSize", "Class Name")
	for _, s := range list {
		p.c.Printf("%s %8d %12d %s\n", report.Hex16(s.MethodTable), s.Count, s.Size, report.Escape(s.Type))
	}
	p.c.Printf("Total %d objects\n", total)
}

func (p *handlePrinter) printCounts(counts map[heap.HandleType]uint64) {
	p.c.Printf("\nHandles:\n")
	for _, l := range handleLabels {
		if n := counts[l.typ]; n != 0 {
			p.c.Printf("    %-*s %d\n", labelWidth, p.cut(l.label, labelWidth), n)
		}
	}
}

func (p *handlePrinter) encodeEnd() error {
	enc := p.c.JSON()
	for _, s := range p.statistics() {
		if err := enc.Item("statistics", *s); err != nil {
			return err
		}
	}
	for _, l := range handleLabels {
		if n := p.counts[l.typ]; n != 0 {
			if err := enc.Item("counts", handleCountItem{l.typ.String(), n}); err != nil {
				return err
			}
		}
	}
	return enc.Field("count", p.total)
}
