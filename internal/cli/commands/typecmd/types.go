package typecmd

import (
	"iter"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
)

type typeOptions struct {
	NoCount bool   `opt:"nocount" help:"no counts of objects"`
	Used    bool   `opt:"used" help:"only types that have objects"`
	Pattern string `arg:"pattern,optional" kind:"type" help:"part of the type's name"`
}

func typesCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "types",
		Summary: "list the loaded types, and count their objects",
		Help: "A type counts when its name contains the pattern, in any case. Types come by module and token, then arrays and generic\n" +
			"instances. Where the dump has no heap the counts are left out.",
		Examples: []cli.Example{{Line: "types -used Order", Text: "types with Order in their name, with their objects counted"}},
	}, askTypes, typetext.LoadedTypes)
}

func askTypes(c *cli.Context, o *typeOptions) (iter.Seq2[answer.LoadedType, error], error) {
	rt, err := ask.Runtime(c)
	if err != nil {
		return nil, err
	}
	var h *heap.Heap
	if !o.NoCount {
		if h, err = ask.Heap(c); err != nil {
			c.Warn(err) // the types can be listed without
		}
	}
	name := strings.Trim(o.Pattern, "*") // a part of the name is meant either way
	return ask.FoundNamed(c, heap.LoadedTypes(c.Context(), rt, h, heap.LoadedTypesOptions{Used: o.Used, Name: name,
		Scan: ask.Scan(c, "counting objects")}), "loaded type", name)
}
