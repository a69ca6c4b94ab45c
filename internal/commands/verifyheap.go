package commands

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/commands/ask"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func verifyHeapCommand() cli.Command {
	return cli.Command{
		Name: "verifyheap", Group: cli.GroupObjects, NeedsDump: true, Run: runVerifyHeap,
		Summary: "looks for corruption of the heap",
		Usage:   "[OPTIONS] [START [END|LSIZE]]",
		Help: "Every object must have a type, end inside its segment, refer to objects only, and have a header that fits its lock. What overwrites " +
			"an object is often the object in front of it (listnearobj), or native code.",
		Options: []cli.Option{
			{Name: "heap", Kind: cli.Int, Summary: "only this heap of a server GC"},
			{Name: "segment", Kind: cli.Address, Summary: "only this segment or region: its address or one in it"},
			{Name: "ignoregcstate", Kind: cli.Bool, Summary: "no word about a heap that a garbage collection was changing"},
			{Name: "noprogress", Kind: cli.Bool, Summary: "no progress display"},
		},
		Args: []cli.Arg{
			{Name: "start", Kind: cli.Address, Optional: true, Summary: "first address"},
			{Name: "end", Kind: cli.Str, Optional: true, Summary: "address behind the last, or L and a number of bytes in hexadecimal"},
		},
		Result: []report.Part{
			report.ListOf[faultItem]("faults"),
			report.FieldOf[uint64]("objects"),
			report.FieldOf[int]("errors"),
			report.FieldOf[int]("syncBlocks"),
			report.FieldOf[int]("syncBlockErrors"),
		},
	}
}

func verifyObjCommand() cli.Command {
	return cli.Command{
		Name: "verifyobj", Group: cli.GroupObjects, NeedsDump: true, Run: runVerifyObj,
		Summary: "looks for corruption of one object",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the object"}},
		Result:  []report.Part{report.ListOf[faultItem]("faults"), report.FieldOf[int]("errors")},
	}
}

type faultItem struct {
	Kind    string         `json:"kind" doc:"what is wrong: InvalidMethodTable, InvalidObjectReference, ..."`
	Object  report.Address `json:"object" doc:"the object"`
	Heap    int            `json:"heap" doc:"number of the GC's heap"`
	Segment report.Address `json:"segment,omitempty" doc:"the object's segment"`
	Offset  uint64         `json:"offset" doc:"bytes from the object's start, of a bad reference"`
	Reason  string         `json:"reason" doc:"the same in a sentence"`
}

func faultOf(f *heap.Fault) faultItem {
	item := faultItem{Kind: f.Kind.String(), Object: report.Address(f.Object), Offset: f.Offset, Reason: f.String()}
	if f.Segment != nil {
		item.Heap, item.Segment = f.Segment.SubHeap, report.Address(f.Segment.Addr)
	}
	return item
}

func runVerifyHeap(c *cli.Context) error {
	h, err := scannedHeap(c, c.Bool("ignoregcstate"))
	if err != nil {
		return err
	}
	f := &heap.Filter{}
	if f.Segments, err = segmentFilter(c, h); err != nil {
		return err
	}
	if f.Range, err = ask.AddressRange(c); err != nil {
		return err
	}
	o, done := heap.ScanOptions{Jobs: c.Jobs}, func() {}
	if !c.Bool("noprogress") {
		o, done = scanOptions(c, "verifying the heap")
	}
	v, err := h.Verify(c.Context(), f, o)
	done()
	if err != nil {
		return err
	}
	if v.Objects == 0 && v.Missing > 0 {
		return fmt.Errorf("no object can be read: %w", v.MissingErr)
	}
	warnMissing(c, &v)
	p := &heapVerifier{c: c, h: h, v: &v}
	// SOS verifies the sync blocks of a part of the heap only.
	if whole := f.Segments == nil && f.Range == (target.Range{}); !whole || !c.SOS {
		if p.verifiesBlocks = true; !p.verifySyncBlocks() {
			p.verifiesBlocks = false
		}
	}
	return p.print()
}

func warnMissing(c *cli.Context, v *heap.Verification) {
	if v.Missing > 0 {
		c.Warn(fmt.Errorf("%d objects could not be verified, the first: %w", v.Missing, v.MissingErr))
	}
}

// A heapVerifier prints what is wrong with a heap.
type heapVerifier struct {
	c              *cli.Context
	h              *heap.Heap
	v              *heap.Verification
	verifiesBlocks bool
	blocks         int
	badBlocks      int
}

// verifySyncBlocks verifies that each sync block in use belongs to an object
// that names it. It reports false when there is no table.
func (p *heapVerifier) verifySyncBlocks() bool {
	rt := p.h.Runtime()
	for b, err := range rt.SyncBlocks() {
		if err != nil && b.Index <= 1 && b.Addr == 0 {
			p.c.Warn(err)
			return false
		}
		if err == nil && b.Object == 0 {
			continue
		}
		p.blocks++
		if err == nil {
			header, herr := rt.ObjectHeader(b.Object)
			if err = herr; err == nil && header.SyncBlockIndex() != b.Index {
				err = target.Corruptf("sync block %d: its object %x does not name it", b.Index, uint64(b.Object))
			}
		}
		if errors.Is(err, target.ErrCorrupt) {
			p.badBlocks++
		}
		if err != nil {
			p.c.Warn(err)
		}
	}
	return true
}

func (p *heapVerifier) print() error {
	if p.c.JSON() != nil {
		return p.encode()
	}
	if err := printFaults(p.c, p.v); err != nil {
		return err
	}
	if p.verifiesBlocks {
		p.c.Printf("%s SyncBlocks verified, %s errors.\n", report.Commas(uint64(p.blocks)), report.Commas(uint64(p.badBlocks)))
	}
	p.c.Printf("%s objects verified, %s errors.\n", report.Commas(p.v.Objects), report.Commas(uint64(p.v.Faulty)))
	if p.v.Faulty == 0 && p.badBlocks == 0 {
		p.c.Printf("No heap corruption detected.\n")
	}
	return nil
}

func printFaults(c *cli.Context, v *heap.Verification) error {
	if len(v.Faults) == 0 {
		return nil
	}
	t := report.NewColumnTable(c.Out, -4, -16, -16, -32, 0)
	if err := t.Row("Heap", "Segment", "Object", "Failure", "Reason"); err != nil {
		return err
	}
	for i := range v.Faults {
		f := faultOf(&v.Faults[i])
		if err := t.Row(fmt.Sprint(f.Heap), report.Hex12(f.Segment), report.Hex12(f.Object), f.Kind, report.Escape(f.Reason)); err != nil {
			return err
		}
	}
	if more := v.Faulty - len(v.Faults); more > 0 {
		c.Printf("... and %s more\n", report.Commas(uint64(more)))
	}
	c.Printf("\n")
	return nil
}

func (p *heapVerifier) encode() error {
	enc := p.c.JSON()
	if err := encodeFaults(p.c, p.v); err != nil {
		return err
	}
	if err := enc.Field("objects", p.v.Objects); err != nil {
		return err
	}
	if err := enc.Field("errors", p.v.Faulty); err != nil || !p.verifiesBlocks {
		return err
	}
	if err := enc.Field("syncBlocks", p.blocks); err != nil {
		return err
	}
	return enc.Field("syncBlockErrors", p.badBlocks)
}

func encodeFaults(c *cli.Context, v *heap.Verification) error {
	if err := c.JSON().List("faults"); err != nil {
		return err
	}
	for i := range v.Faults {
		if err := c.JSON().Item("faults", faultOf(&v.Faults[i])); err != nil {
			return err
		}
	}
	return nil
}

func runVerifyObj(c *cli.Context) error {
	h, err := heapOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	v := heap.NewVerifier(h).Object(a)
	if v.Missing > 0 && v.Faulty == 0 {
		return v.MissingErr
	}
	warnMissing(c, &v)
	if c.JSON() != nil {
		if err := encodeFaults(c, &v); err != nil {
			return err
		}
		return c.JSON().Field("errors", v.Faulty)
	}
	if v.Faulty == 0 {
		c.Printf("object 0x%x is a valid object\n", uint64(a))
		return nil
	}
	t := report.NewColumnTable(c.Out, -6, -32, 0)
	if err := t.Row("Offset", "Issue", "Description"); err != nil {
		return err
	}
	for i := range v.Faults {
		f := &v.Faults[i]
		if err := t.Row(fmt.Sprintf("0x%02x", f.Offset), f.Kind.String(), report.Escape(f.String())); err != nil {
			return err
		}
	}
	plural := "s"
	if v.Faulty == 1 {
		plural = ""
	}
	c.Printf("\n%d error%s  detected.\n", v.Faulty, plural)
	return nil
}
