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

func dumpObjCommand() cli.Command {
	return cli.Command{
		Name: "dumpobj", Aliases: []string{"do"}, Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpObj,
		Summary: "show an object: its type, size, fields and values",
		Help: "The value of a struct field is its address, for dumpvc. Unless SOS's form is asked for, strings, names of enum\n" +
			"values, dates and other values that fit on the line stand behind the field's name.",
		Options: []cli.Option{
			{Name: "nofields", Kind: cli.Bool, Summary: "leave the fields out"},
			{Name: "show", Kind: cli.Str, Value: "EXPR", Summary: "what expressions about it are worth, instead of its fields: Customer.Name, size"},
			{Name: "refs", Kind: cli.Bool, Summary: "list the objects that it refers to, as the GC sees them"},
		},
		Args: []cli.Arg{ask.Object("address", "address of the object")},
		Examples: []cli.Example{
			{Line: "dumpobj 7f079cc00b40", Text: "show the object at that address"},
			{Line: "dumpobj Contoso.Orders.Cache.s_open", Text: "the object that a static field refers to"},
			{Line: "dumpobj -show 'Customer.Name, size, retained' 7f079cc00b40", Text: "what these expressions are worth for it"},
		},
		Result: report.Result[answer.Object](),
	}
}

func askDumpObj(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	o, err := r.Describe(c.Context(), a, objects.DescribeOptions{NoFields: c.Bool("nofields"), References: c.Bool("refs")})
	if err != nil {
		return invalidObject(err)
	}
	if show, ok := c.Str("show"); ok {
		return askShown(c, o, show)
	}
	if !c.Bool("nofields") && !c.SOS {
		summarise(c, r, a, o)
	}
	return report.Say(o, objecttext.Object), nil
}

// firstElements is how many elements of a collection dumpobj shows.
const firstElements = 5

// summarise adds what a collection holds, and what a task waits for.
func summarise(c *cli.Context, r *objects.Reader, a target.Addr, o *answer.Object) {
	l, err := ask.Collections(c)
	if err != nil {
		return // there are no objects without it
	}
	object, err := r.Object(a)
	if err != nil {
		return // which the description tells
	}
	o.Collection, err = l.Summary(object, firstElements)
	o.Note(err)
	if t, err := ask.View(c).TaskReader(); err == nil {
		o.Task = taskState(t, o)
	}
}

// taskState tells of an object that is a task; nil of another one.
func taskState(r *tasks.Reader, o *answer.Object) *answer.TaskState {
	s, err := r.DescribeState(o.Address)
	if err != nil {
		return nil // what can't be read the fields tell
	}
	o.NoteAll(s.Noted())
	return s
}

// askShown is dumpobj -show.
func askShown(c *cli.Context, o *answer.Object, show string) (report.Answer, error) {
	p, err := ask.Asked(c)
	if err != nil {
		return report.Answer{}, err
	}
	of, err := p.Objects.Proven(o.Address)
	if err != nil {
		return report.Answer{}, err
	}
	e, err := query.EvaluateOf(c.Context(), p, of, show)
	if err = ask.Misread(c, err); e == nil {
		return report.Answer{}, err
	}
	o.NoteAll(e.Noted())
	o.Shown = e.Values
	return report.Say(o, func(p *report.Page, o *answer.Object) { querytext.Evaluations(p, &answer.Evaluations{Values: o.Shown}) }), err
}

// invalidObject is the answer where there is no object, or it can't be read.
func invalidObject(err error) (report.Answer, error) {
	var invalid *objects.InvalidError
	if !errors.As(err, &invalid) {
		return report.Answer{}, err
	}
	return report.SayText(func(p *report.Page) { objecttext.InvalidObject(p, err) }), err
}
