package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

type tableOptions struct {
	MD      bool        `opt:"md" help:"the methods too"`
	All     bool        `opt:"all" help:"the methods and fields, and the attributes of the class"`
	Address target.Addr `arg:"address" help:"the MethodTable"`
}

func dumpMTCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name:     "dumpmt",
		Summary:  "describe a type by its MethodTable",
		Examples: []cli.Example{{Line: "dumpmt -md 7f07a5b48688", Text: "a type and its methods"}},
	}, func(c *cli.Context, o *tableOptions) (*answer.Type, error) {
		return ask.View(c).Type(ask.Context(c), o.Address, objects.TypeOptions{Methods: o.All || o.MD, Fields: o.All})
	}, func(p *report.Page, t *answer.Type, o *tableOptions) { typetext.MethodTable(p, t, o.All) })
}

type classOptions struct {
	Address target.Addr `arg:"address" help:"the EEClass or MethodTable"`
}

func dumpClassCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumpclass",
		Summary: "describe a type by its EEClass or MethodTable: attributes and fields",
		Help:    "An EEClass stands for its canonical MethodTable.",
	}, func(c *cli.Context, o *classOptions) (*answer.Type, error) {
		r, err := ask.Objects(c)
		if err != nil {
			return nil, err
		}
		return r.DescribeClass(o.Address, objects.TypeOptions{Fields: true})
	}, typetext.Class)
}
