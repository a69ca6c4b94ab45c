package memorycmd

import (
	"github.com/sosgo/sosgo"
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
	}, ask.Plain((*sosgo.View).OldReferences), memorytext.OldReferences)
}

func ephToLOHCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "ephtoloh",
		Summary: "list the references between young objects and large ones",
		Help: "Only a collection of generation 2 frees large objects. One that refers to young objects keeps them alive until then, garbage or not; " +
			"where a young object refers to a large one that refers to young ones, short-lived data lives long.",
	}, ask.Plain((*sosgo.View).LargeReferences), memorytext.LargeReferences)
}
