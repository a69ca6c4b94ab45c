package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func gcWhereCommand() cli.Command {
	return cli.Command{
		Name: "gcwhere", Group: cli.GroupObjects, NeedsDump: true, Run: runGCWhere,
		Summary: "says where in the heap an address lies: heap, segment and generation",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "an object, or any address"}},
		Result:  []report.Part{report.Whole[whereItem]()},
	}
}

type whereItem struct {
	Address    report.Address `json:"address" doc:"the address that was asked for"`
	Found      bool           `json:"found" doc:"whether it lies in the heap; else the other fields are absent"`
	Heap       int            `json:"heap" doc:"number of the GC's heap"`
	Segment    report.Address `json:"segment,omitempty" doc:"the segment or region"`
	Generation string         `json:"generation,omitempty" doc:"\"0\", \"1\", \"2\", \"large\", \"pinned\", \"frozen\", \"reserve\" for memory behind the committed one, \"???\""`
	Allocated  *rangeItem     `json:"allocated,omitempty" doc:"from the first object to the end of the last"`
	Committed  *rangeItem     `json:"committed,omitempty" doc:"committed memory"`
	Reserved   *rangeItem     `json:"reserved,omitempty" doc:"reserved memory behind it"`
}

type rangeItem struct {
	Start report.Address `json:"start" doc:"first byte"`
	End   report.Address `json:"end" doc:"behind the last byte"`
}

func runGCWhere(c *cli.Context) error {
	h, err := heapOf(c)
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	s := h.SegmentAround(a)
	if c.JSON() != nil {
		return c.JSON().Value(whereOf(a, s))
	}
	if s == nil {
		c.Printf("Address %x not found in the managed heap.\n", uint64(a))
		return nil
	}
	t := report.NewColumnTable(c.Out, -16, -6, -16, -10, -25, -25, -25)
	if err := t.Row("Address", "Heap", "Segment", "Generation", "Allocated", "Committed", "Reserved"); err != nil {
		return err
	}
	return t.Row(report.Hex12(a), fmt.Sprint(s.SubHeap), report.Hex12(s.Addr), whereGeneration(s, a),
		rangeText(s.Objects), rangeText(s.Committed), rangeText(s.Reserved))
}

func whereGeneration(s *heap.Segment, a target.Addr) string {
	if s.Reserved.Contains(a) {
		return "reserve"
	}
	return s.Generation(a).String()
}

func rangeText(r target.Range) string { return report.Hex12(r.Start) + "-" + report.Hex12(r.End) }

func whereOf(a target.Addr, s *heap.Segment) whereItem {
	item := whereItem{Address: report.Address(a)}
	if s == nil {
		return item
	}
	r := func(r target.Range) *rangeItem { return &rangeItem{report.Address(r.Start), report.Address(r.End)} }
	item.Found, item.Heap, item.Segment = true, s.SubHeap, report.Address(s.Addr)
	item.Generation = whereGeneration(s, a)
	item.Allocated, item.Committed, item.Reserved = r(s.Objects), r(s.Committed), r(s.Reserved)
	return item
}
