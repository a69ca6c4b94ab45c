package typecmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
)

func dumpRuntimeTypesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpruntimetypes",
		Summary: "list the System.RuntimeType objects of the heap and the types that they stand for",
	}, askDumpRuntimeTypes, typetext.RuntimeTypes)
}

func askDumpRuntimeTypes(c *cli.Context, _ *cli.None) (iter.Seq2[answer.RuntimeType, error], error) {
	types, err := ask.View(c).RuntimeTypes(ask.Context(c))
	if err != nil {
		return nil, err
	}
	return ask.Found(types, "System.RuntimeType object")
}
