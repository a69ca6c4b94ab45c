package typecmd

import (
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
)

func staticsCommand() cli.Command {
	return cli.Command{
		Name: "statics", Group: cli.GroupTypes, NeedsDump: true, Ask: askStatics,
		Summary: "list static fields with their values",
		Help: "A type counts when its name contains the pattern, in any case. Thread statics are listed once a thread. A field of a\n" +
			"class whose constructor has not run is `<not initialised>`.",
		Options: []cli.Option{
			{Name: "all", Kind: cli.Bool, Summary: "of all types"},
			{Name: "type", Kind: cli.TypeName, Summary: "as the pattern"},
			{Name: "refs", Kind: cli.Bool, Summary: "only fields that refer to an object"},
		},
		Args: []cli.Arg{{Name: "pattern", Kind: cli.TypeName, Optional: true, Summary: "part of the declaring type's name"}},
		Examples: []cli.Example{
			{Line: "statics Cache", Text: "static fields of the types with Cache in their name"},
			{Line: "statics -all -refs", Text: "every object that a static field holds"},
		},
		Result: report.Result[iter.Seq2[answer.StaticField, error]](),
	}
}

func askStatics(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	o := objects.StaticsOptions{References: c.Bool("refs")}
	o.Type, _ = c.Str("pattern")
	if s, ok := c.Str("type"); ok {
		o.Type = s
	}
	if o.Type == "" && !c.Bool("all") {
		return report.Answer{}, c.Usagef("name a type, or give -all")
	}
	fields, err := ask.FoundNamed(c, r.Statics(c.Context(), o), "static field", o.Type)
	return ask.Say(fields, err, typetext.Statics)
}
