package objectcmd

import (
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/front/report"
)

type verifyOptions struct {
	ask.Segments
	quiet
	ask.Range
}

func verifyHeapCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:    "verifyheap",
		Summary: "check the heap for corruption",
		Usage:   "[OPTIONS] [START [END|LSIZE]]",
		Help: "Every object must have a type, end inside its segment, refer to objects only, and have a header that fits its lock. An object is " +
			"often overwritten by the one in front of it (listnearobj), or by native code. A garbage collection in progress leaves traces that look " +
			"like faults: they are listed with -ignoregcstate.",
	}, askVerifyHeap, func(p *report.Page, s *answer.Soundness, o *verifyOptions) {
		objecttext.Soundness(p, s, o.IgnoreGCState)
	})
}

func askVerifyHeap(c *cli.Context, o *verifyOptions) (*answer.Soundness, error) {
	h, err := ask.ScannedHeap(c, o.IgnoreGCState)
	if err != nil {
		return nil, err
	}
	f := &heap.Filter{}
	if f.Segments, err = o.Segments.Of(c, h); err != nil {
		return nil, err
	}
	if f.Range, err = o.Range.Of(c); err != nil {
		return nil, err
	}
	return h.Soundness(c.Context(), f, o.scan(c))
}

func verifyObjCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "verifyobj",
		Summary: "check one object for corruption",
	}, func(c *cli.Context, o *object) (*answer.ObjectSoundness, error) {
		out, err := memory.VerifyObject(ask.Context(c), ask.View(c), o.Object.Addr)
		if err == nil && c.Mask() != nil {
			hideWords(out.Faults)
		}
		return out, err
	}, objecttext.ObjectSoundness)
}

// hideWords leaves out of faults what is found at an address that is no object: perhaps a part of a text.
func hideWords(faults []answer.Fault) {
	for i := range faults {
		if f := &faults[i]; f.Kind == heap.FaultMethodTable.String() {
			f.Reason = fmt.Sprintf("Object %x has an invalid method table", uint64(f.Object))
		}
	}
}

func listNearObjCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "listnearobj", Aliases: []string{"lno"},
		Summary: "show the objects around an address, and whether the heap is sound there",
	}, askListNearObj, objecttext.Neighbours)
}

func askListNearObj(c *cli.Context, o *object) (*answer.Neighbours, error) {
	near, err := memory.Neighbours(ask.Context(c), ask.View(c), o.Object.Addr)
	if errors.Is(err, memory.ErrNotInHeap) {
		return nil, c.Usagef("%v (eeheap -gc lists them)", err)
	}
	return near, err
}
