package objectcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/cli/text/querytext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

type objOptions struct {
	NoFields bool       `opt:"nofields" help:"no fields"`
	Show     string     `opt:"show" value:"EXPR" help:"the values of expressions about it, instead of its fields: Customer.Name, size"`
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
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	x, err := r.Describe(c.Context(), o.Object.Addr, objects.DescribeOptions{NoFields: o.NoFields, References: o.Refs})
	switch {
	case err != nil:
		return nil, invalidObject(err)
	case o.Show != "":
		return x, show(c, x, o.Show)
	case !o.NoFields && !c.SOS:
		summarise(c, r, o.Object.Addr, x)
	}
	return x, nil
}

// firstElements is how many elements of a collection dumpobj shows.
const firstElements = 5

// summarise adds the first elements of a collection, and what a task waits for.
func summarise(c *cli.Context, r *objects.Reader, a target.Addr, o *answer.Object) {
	l, err := ask.Collections(c)
	if err != nil {
		return // there are no objects without it
	}
	object, err := r.Object(a)
	if err != nil {
		return // the description has the reason
	}
	o.Collection, err = l.Summary(object, firstElements)
	o.Note(err)
	if t, err := ask.View(c).TaskReader(); err == nil {
		o.Task = taskState(t, o)
	}
}

// taskState describes an object that is a task; it is nil for others.
func taskState(r *tasks.Reader, o *answer.Object) *answer.TaskState {
	s, err := r.DescribeState(o.Address)
	if err != nil {
		return nil // the fields show what could not be read
	}
	o.NoteAll(s.Noted())
	return s
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
