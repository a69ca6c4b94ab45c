package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func verifyHeapCommand() cli.Command {
	return cli.Command{
		Name: "verifyheap", Group: cli.GroupObjects, NeedsDump: true, Ask: askVerifyHeap,
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
		Args:   ask.RangeArgs(),
		Result: report.Result[answer.Soundness](),
	}
}

func verifyObjCommand() cli.Command {
	return cli.Command{
		Name: "verifyobj", Group: cli.GroupObjects, NeedsDump: true, Ask: askVerifyObj,
		Summary: "looks for corruption of one object",
		Args:    []cli.Arg{ask.Object("address", "address of the object")},
		Result:  report.Result[answer.ObjectSoundness](),
	}
}

func askVerifyHeap(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, c.Bool("ignoregcstate"))
	if err != nil {
		return report.Answer{}, err
	}
	f := &heap.Filter{}
	if f.Segments, err = ask.SegmentFilter(c, h); err != nil {
		return report.Answer{}, err
	}
	if f.Range, err = ask.AddressRange(c); err != nil {
		return report.Answer{}, err
	}
	s, err := h.Soundness(c.Context(), f, scanOptions(c))
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(s, objecttext.Soundness), nil
}

func askVerifyObj(c *cli.Context) (report.Answer, error) {
	h, err := ask.Heap(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	s, err := h.ObjectSoundness(a)
	if err != nil {
		return report.Answer{}, err
	}
	return report.Say(s, objecttext.ObjectSoundness), nil
}
