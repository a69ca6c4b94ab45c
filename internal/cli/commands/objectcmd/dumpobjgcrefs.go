package objectcmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
)

func dumpObjGCRefsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpobjgcrefs",
		Summary: "list the objects that an object refers to, as the GC sees them",
	}, func(c *cli.Context, o *object) (iter.Seq2[answer.Reference, error], error) {
		refs, err := ask.View(c).References(ask.Context(c), o.Object.Addr)
		if err != nil {
			return nil, invalidObject(err)
		}
		return refs, nil
	}, objecttext.References)
}
