package objectcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

func objSizeCommand() cli.Command {
	return cli.Command{
		Name: "objsize", Group: cli.GroupObjects, NeedsDump: true, Ask: askObjSize,
		Summary: "lists what an object, or all objects of a type, keep alive",
		Usage:   "[-stat] [-short] [-retained] [-strings] ADDRESS | -mt MT",
		Help: "That is all that can be reached from it, whatever else keeps it alive too: not what would be free without it. " +
			"The objects come in the order in which they are met.",
		Options: []cli.Option{
			{Name: "mt", Kind: cli.Address, Summary: "of all objects of this MethodTable together"},
			{Name: "stat", Aliases: []string{"summary"}, Kind: cli.Bool, Summary: "only the statistics"},
			{Name: "short", Kind: cli.Bool, Summary: "only addresses, one a line, for scripts"},
			{Name: "retained", Kind: cli.Bool, Summary: "also what of it nothing else keeps alive, of one object"},
			{Name: "strings", Kind: cli.Bool, Summary: "only strings, counted by their content"},
		},
		Args:     []cli.Arg{ask.OptionalObject("address", "the object")},
		Examples: []cli.Example{{Line: "objsize -stat 7f10a4632890", Text: "what hangs on this object?"}},
		Result:   report.Result[answer.Closure](),
	}
}

func askObjSize(c *cli.Context) (report.Answer, error) {
	a, isObject := c.Addr("address")
	mt, isType := c.Addr("mt")
	if isObject == isType {
		return report.Answer{}, c.Usagef("objsize wants the address of an object, or -mt and a type")
	}
	if isType && c.Bool("retained") {
		return report.Answer{}, c.Usagef("-retained is of one object; the command retained has types")
	}
	h, err := ask.Holders(c)
	if err != nil {
		return report.Answer{}, err
	}
	o := graph.KeepOptions{OnlyStatistics: c.Bool("stat"), Strings: c.Bool("strings"), Retained: c.Bool("retained"), Scan: ask.Scan(c, "scanning the heap")}
	var out *answer.Closure
	if isType {
		out, err = h.KeptByType(c.Context(), mt, o)
	} else {
		out, err = h.KeptBy(c.Context(), a, o)
	}
	return ask.Say(out, err, func(p *report.Page, x *answer.Closure) {
		objecttext.Closure(p, x, objecttext.ListingOptions{Short: c.Bool("short")})
	})
}
