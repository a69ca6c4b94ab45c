package objectcmd

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func listNearObjCommand() cli.Command {
	return cli.Command{
		Name: "listnearobj", Aliases: []string{"lno"}, Group: cli.GroupObjects, NeedsDump: true, Ask: askListNearObj,
		Summary: "shows the objects around an address, and whether the heap is sound there",
		Args:    []cli.Arg{ask.Object("address", "an object, or an address in one")},
		Result:  report.Result[answer.Neighbours](),
	}
}

func askListNearObj(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, false)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	near := h.Around(a)
	if lost := h.Lost(); near == nil && len(lost) > 0 {
		return report.Answer{}, fmt.Errorf("%x is in no segment that can be read: %w", uint64(a), lost[0].Err)
	}
	if near == nil {
		return report.Answer{}, c.Usagef("%x is not in the objects of a segment (eeheap -gc lists them)", uint64(a))
	}
	return report.Say(near, objecttext.Neighbours), nil
}
