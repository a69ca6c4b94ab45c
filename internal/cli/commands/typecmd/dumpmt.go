package typecmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
)

func dumpMTCommand() cli.Command {
	return cli.Command{
		Name: "dumpmt", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpMT,
		Summary: "describe a type by its MethodTable",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the MethodTable"}},
		Options: []cli.Option{
			{Name: "md", Kind: cli.Bool, Summary: "list the methods too"},
			{Name: "all", Kind: cli.Bool, Summary: "list the methods and fields, and the attributes of the class"},
		},
		Examples: []cli.Example{{Line: "dumpmt -md 7f07a5b48688", Text: "a type and its methods"}},
		Result:   report.Result[answer.Type](),
	}
}

func askDumpMT(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	all := c.Bool("all")
	t, err := r.DescribeType(a, objects.TypeOptions{Methods: all || c.Bool("md"), Fields: all})
	return ask.Say(t, err, func(p *report.Page, t *answer.Type) { typetext.MethodTable(p, t, all) })
}

func dumpClassCommand() cli.Command {
	return cli.Command{
		Name: "dumpclass", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpClass,
		Summary: "describe a type by its EEClass or MethodTable: attributes and fields",
		Args:    []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the EEClass or MethodTable"}},
		Help:    "An EEClass stands for its canonical MethodTable.",
		Result:  report.Result[answer.Type](),
	}
}

func askDumpClass(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	t, err := r.DescribeClass(a, objects.TypeOptions{Fields: true})
	return ask.Say(t, err, typetext.Class)
}
