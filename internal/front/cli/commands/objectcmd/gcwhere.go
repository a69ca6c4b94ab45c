package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/memory"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/objecttext"
)

func gcWhereCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "gcwhere",
		Summary: "show where in the heap an address lies: heap, segment and generation",
	}, func(c *cli.Context, o *object) (*answer.Where, error) {
		return memory.Where(ask.Context(c), ask.View(c), o.Object.Addr)
	}, objecttext.Where)
}
