package typecmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
)

func dumpRuntimeTypesCommand() cli.Command {
	return cli.Command{
		Name: "dumpruntimetypes", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpRuntimeTypes,
		Summary: "list the System.RuntimeType objects of the heap and the types that they stand for",
		Result:  report.Result[iter.Seq2[answer.RuntimeType, error]](),
	}
}

func askDumpRuntimeTypes(c *cli.Context) (report.Answer, error) {
	h, err := ask.ScannedHeap(c, true)
	if err != nil {
		return report.Answer{}, err
	}
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	types, err := r.RuntimeTypes(c.Context(), h)
	if err == nil {
		types, err = ask.Found(types, "System.RuntimeType object")
	}
	return ask.Say(types, err, typetext.RuntimeTypes)
}
