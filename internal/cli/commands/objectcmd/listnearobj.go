package objectcmd

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
)

func listNearObjCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "listnearobj", Aliases: []string{"lno"},
		Summary: "show the objects around an address, and whether the heap is sound there",
	}, askListNearObj, objecttext.Neighbours)
}

func askListNearObj(c *cli.Context, o *object) (*answer.Neighbours, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return nil, err
	}
	near := h.Around(o.Object.Addr)
	if lost := h.Lost(); near == nil && len(lost) > 0 {
		return nil, fmt.Errorf("%x is in no segment that can be read: %w", uint64(o.Object.Addr), lost[0].Err)
	}
	if near == nil {
		return nil, c.Usagef("%x is not in the objects of a segment (eeheap -gc lists them)", uint64(o.Object.Addr))
	}
	return near, nil
}
