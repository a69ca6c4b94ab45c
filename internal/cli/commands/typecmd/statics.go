package typecmd

import (
	"cmp"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/objects"
)

type staticOptions struct {
	All     bool   `opt:"all" help:"all types"`
	Type    string `opt:"type" kind:"type" help:"the pattern, in another way"`
	Refs    bool   `opt:"refs" help:"only fields that refer to an object"`
	Pattern string `arg:"pattern,optional" kind:"type" help:"part of the declaring type's name"`
}

func staticsCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "statics",
		Summary: "list static fields with their values",
		Help: "A type counts when its name contains the pattern, in any case. Thread statics are listed once a thread. A field of a\n" +
			"class whose constructor has not run is `<not initialised>`.",
		Examples: []cli.Example{
			{Line: "statics Cache", Text: "static fields of the types with Cache in their name"},
			{Line: "statics -all -refs", Text: "every object that a static field holds"},
		},
	}, askStatics, typetext.Statics)
}

func askStatics(c *cli.Context, o *staticOptions) (iter.Seq2[answer.StaticField, error], error) {
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(o.Type, o.Pattern)
	if name == "" && !o.All {
		return nil, c.Usagef("name a type, or give -all")
	}
	return ask.FoundNamed(c, r.Statics(c.Context(), objects.StaticsOptions{Type: name, References: o.Refs}), "static field", name)
}
