package memorycmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/memorytext"
)

func ephRefsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ephrefs",
		Summary: "list the objects of older generations that refer to younger ones",
		Help: "A collection of young generations has to look at these objects, and keeps alive what they refer to, though they may be garbage " +
			"themselves. Rows with many references are where such collections spend their time.",
	}, func(c *cli.Context, _ *cli.None) (*answer.OldReferences, error) {
		h, err := ask.ScannedHeap(c, false)
		if err != nil {
			return nil, err
		}
		return h.OldReferences(c.Context(), ask.Scan(c, "scanning the heap"))
	}, memorytext.OldReferences)
}

func ephToLOHCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ephtoloh",
		Summary: "list the references between young objects and large ones",
		Help: "Only a collection of generation 2 frees large objects. One that refers to young objects keeps them alive until then, garbage or not; " +
			"where a young object refers to a large one that refers to young ones, short-lived data lives long.",
	}, func(c *cli.Context, _ *cli.None) (*answer.LargeReferences, error) {
		h, err := ask.ScannedHeap(c, false)
		if err != nil {
			return nil, err
		}
		return h.LargeReferences(c.Context(), ask.Scan(c, "scanning the heap"))
	}, memorytext.LargeReferences)
}
