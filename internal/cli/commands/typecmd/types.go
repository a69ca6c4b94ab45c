package typecmd

import (
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
)

func typesCommand() cli.Command {
	return cli.Command{
		Name: "types", Group: cli.GroupTypes, NeedsDump: true, Ask: askTypes,
		Summary: "list the types that are loaded, with their objects counted",
		Help: "A type counts when its name contains the pattern, in any case. Types come by module and token, then arrays and generic\n" +
			"instances. Where the dump has no heap the counts are left out.",
		Options: []cli.Option{
			{Name: "nocount", Kind: cli.Bool, Summary: "do not count objects"},
			{Name: "used", Kind: cli.Bool, Summary: "only types that have objects"},
		},
		Args:     []cli.Arg{{Name: "pattern", Kind: cli.TypeName, Optional: true, Summary: "part of the type's name"}},
		Examples: []cli.Example{{Line: "types -used Order", Text: "types with Order in their name, with their objects counted"}},
		Result:   report.Result[iter.Seq2[answer.LoadedType, error]](),
	}
}

func askTypes(c *cli.Context) (report.Answer, error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return report.Answer{}, err
	}
	var h *heap.Heap
	if !c.Bool("nocount") {
		if h, err = ask.Heap(c); err != nil {
			c.Warn(err) // the types can be listed without
		}
	}
	o := heap.LoadedTypesOptions{Used: c.Bool("used"), Scan: ask.Scan(c, "counting objects")}
	pattern, _ := c.Str("pattern")
	o.Name = strings.Trim(pattern, "*") // a part of the name is meant either way
	types, err := ask.FoundNamed(c, heap.LoadedTypes(c.Context(), rt, h, o), "loaded type", o.Name)
	return ask.Say(types, err, typetext.LoadedTypes)
}
