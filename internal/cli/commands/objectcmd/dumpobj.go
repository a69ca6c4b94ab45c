package objectcmd

import (
	"errors"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/cli/text/querytext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/query"
)

type objOptions struct {
	NoFields bool       `opt:"nofields" help:"no fields"`
	Show     string     `opt:"show" kind:"expression" value:"EXPR" help:"the values of expressions about it, instead of its fields: Customer.Name, size"`
	Refs     bool       `opt:"refs" help:"the objects that it refers to, as the GC sees them"`
	Object   cli.Object `arg:"address" help:"the object"`
}

func dumpObjCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "dumpobj", Aliases: []string{"do"},
		Summary: "show an object: its type, size, fields and values",
		Help: "The value of a struct field is its address, for dumpvc. Except in SOS's form, strings, names of enum\n" +
			"values, dates and other values that fit on the line follow the field's name.",
		Examples: []cli.Example{
			{Line: "dumpobj 7f079cc00b40", Text: "show the object at that address"},
			{Line: "dumpobj Contoso.Orders.Cache.s_open", Text: "the object that a static field refers to"},
			{Line: "dumpobj -show 'Customer.Name, size, retained' 7f079cc00b40", Text: "the values of these expressions"},
		},
	}, askDumpObj, func(p *report.Page, x *answer.Object, o *objOptions) {
		if o.Show != "" {
			querytext.Evaluations(p, &answer.Evaluations{Values: x.Shown})
		} else {
			objecttext.Object(p, x)
		}
	})
}

func askDumpObj(c *cli.Context, o *objOptions) (*answer.Object, error) {
	x, err := ask.View(c).Describe(ask.Context(c), o.Object.Addr, sosgo.DescribeOptions{
		DescribeOptions: objects.DescribeOptions{NoFields: o.NoFields, References: o.Refs}, Plain: o.Show != "" || ask.FormOf(c).Plain})
	switch {
	case err != nil:
		return nil, invalidObject(err)
	case o.Show != "":
		return x, show(c, x, o.Show)
	}
	return x, nil
}

// show evaluates expressions about an object.
func show(c *cli.Context, x *answer.Object, text string) error {
	p, err := ask.QueryProcess(c)
	if err != nil {
		return err
	}
	of, err := p.Objects.Proven(x.Address)
	if err != nil {
		return err
	}
	e, err := query.EvaluateOf(c.Context(), p, of, text)
	if err = ask.Misread(c, err); e == nil {
		return err
	}
	x.NoteAll(e.Noted())
	x.Shown = e.Values
	return cli.WithAnswer(err)
}

// invalidObject explains that there is no object, or that it can't be read.
func invalidObject(err error) error {
	var invalid *objects.InvalidError
	if !errors.As(err, &invalid) {
		return err
	}
	return cli.WithText(func(p *report.Page) { objecttext.InvalidObject(p, err) }, err)
}
