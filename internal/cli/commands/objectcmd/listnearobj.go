package objectcmd

import (
	"errors"

	"github.com/sosgo/sosgo"
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
	near, err := ask.View(c).Neighbours(ask.Context(c), o.Object.Addr)
	if errors.Is(err, sosgo.ErrNotInHeap) {
		return nil, c.Usagef("%v (eeheap -gc lists them)", err)
	}
	return near, err
}
