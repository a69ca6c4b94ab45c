package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func listNearObjCommand() cli.Command {
	return cli.Command{
		Name: "listnearobj", Aliases: []string{"lno"}, Group: cli.GroupObjects, NeedsDump: true, Run: runListNearObj,
		Summary: "shows the objects around an address, and whether the heap is sound there",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "an object, or an address in one"}},
		Result:  []report.Part{report.Whole[nearItem]()},
	}
}

type nearItem struct {
	Before     *nearObject `json:"before,omitempty" doc:"the last object that starts before the address"`
	Current    *nearObject `json:"current,omitempty" doc:"the object that starts at the address"`
	Next       *nearObject `json:"next,omitempty" doc:"the first object behind"`
	Gap        *rangeItem  `json:"gap,omitempty" doc:"an allocation context between them, which holds no objects"`
	Consistent bool        `json:"consistent" doc:"each object begins where the one before ends"`
}

type nearObject struct {
	Address report.Address `json:"address" doc:"the object"`
	Size    uint64         `json:"size" doc:"bytes"`
	Type    string         `json:"type" doc:"its type"`
}

func runListNearObj(c *cli.Context) error {
	h, err := scannedHeap(c, false)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	near := h.Near(a)
	if near == nil {
		return c.Usagef("%x is not in the objects of a segment (eeheap -gc lists them)", uint64(a))
	}
	p := &nearText{c: c, rt: h.Runtime(), near: near, last: a}
	if c.JSON() != nil {
		return c.JSON().Value(p.item())
	}
	p.print(a)
	return nil
}

type nearText struct {
	c    *cli.Context
	rt   *dac.Runtime
	near *heap.Neighbours
	last target.Addr
}

func (p *nearText) item() nearItem {
	of := func(o *heap.Object) *nearObject {
		if o == nil {
			return nil
		}
		return &nearObject{report.Address(o.Addr), o.Size, typeNameOr(p.c, p.rt, o.Type.Addr)}
	}
	item := nearItem{Before: of(p.near.Before), Current: of(p.near.Current), Next: of(p.near.Next), Consistent: len(p.near.Corrupt) == 0}
	if g := p.near.Gap; g.Size() > 0 {
		item.Gap = &rangeItem{report.Address(g.Start), report.Address(g.End)}
	}
	return item
}

func (p *nearText) print(a target.Addr) {
	n := p.near
	if n.Before == nil {
		p.c.Printf("Address %x is the first object on the segment.\n", uint64(a))
	}
	p.object("Before:", n.Before)
	p.gap(n.Before)
	p.object("Current:", n.Current)
	if n.Current != nil {
		p.gap(n.Current)
	}
	p.object("Next:", n.Next)
	for _, e := range n.Corrupt {
		p.c.Printf("Error Detected: %s\n", report.Escape(e.Error()))
	}
	if n.Next == nil {
		p.c.Printf("%x is the last object on the segment\n", uint64(p.last))
	}
	if len(n.Corrupt) == 0 {
		p.c.Printf("Heap local consistency confirmed.\n")
		return
	}
	p.c.Printf("Heap local consistency not confirmed.\n")
}

func (p *nearText) object(label string, o *heap.Object) {
	if o == nil {
		return
	}
	p.last = o.Addr
	p.c.Printf("%-22s %s %-30s %s\n", label, report.Hex12(o.Addr), fmt.Sprintf("%s (0x%x)", report.Commas(o.Size), o.Size),
		report.Escape(typeNameOr(p.c, p.rt, o.Type.Addr)))
}

// gap prints the allocation context that begins where o ends.
func (p *nearText) gap(o *heap.Object) {
	g := p.near.Gap
	if o == nil || g.Size() == 0 || o.Next() != g.Start {
		return
	}
	p.c.Printf("%-22s %s %-30s %s\n", "Gap:", rangeText(g), fmt.Sprintf("%s (0x%x)", report.Commas(g.Size()), g.Size()),
		"GC Allocation Context (expected gap in the heap)")
}

type rangeItem struct {
	Start report.Address `json:"start" doc:"first byte"`
	End   report.Address `json:"end" doc:"behind the last byte"`
}

func rangeText(r target.Range) string { return report.Hex12(r.Start) + "-" + report.Hex12(r.End) }
