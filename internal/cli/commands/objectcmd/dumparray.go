package objectcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
)

func dumpArrayCommand() cli.Command {
	return cli.Command{
		Name: "dumparray", Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpArray,
		Summary: "list the elements of an array",
		Help: "The elements of an array of structs or numbers are shown by their addresses, for dumpvc; unless SOS's form is asked\n" +
			"for, values that fit on the line stand behind.",
		Options: []cli.Option{
			{Name: "start", Kind: cli.Int, Summary: "first index, of an array of one dimension"},
			{Name: "length", Kind: cli.Int, Summary: "number of elements, of an array of one dimension"},
			{Name: "details", Kind: cli.Bool, Summary: "show each element as dumpobj or dumpvc does"},
			{Name: "nofields", Kind: cli.Bool, Summary: "leave the elements' fields out, with -details"},
		},
		Args:     []cli.Arg{ask.Object("address", "address of the array")},
		Examples: []cli.Example{{Line: "dumparray -start 10 -length 5 7efbcd805f00", Text: "list elements 10 to 14"}},
		Result:   report.Result[answer.Array](),
	}
}

func askDumpArray(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	o := objects.ArrayOptions{Details: c.Bool("details"), NoFields: c.Bool("nofields")}
	if start, ok := c.Int("start"); ok {
		o.Start = &start
	}
	if length, ok := c.Int("length"); ok {
		o.Length = &length
	}
	array, err := r.DescribeArray(c.Context(), a, o)
	if err != nil {
		return noArray(c, err)
	}
	return report.Say(array, objecttext.Array), nil
}

// noArray is the answer where there is no array, or none with such elements.
func noArray(c *cli.Context, err error) (report.Answer, error) {
	var bad *objects.RangeError
	switch {
	case errors.Is(err, objects.ErrNotArray):
		return report.SayText(objecttext.NotArray), err
	case !errors.As(err, &bad):
		return invalidObject(err)
	case bad.Array.Rank > 1:
		return report.SayText(objecttext.BadRank), c.Usagef("%v", bad)
	case bad.Option == "Start":
		return report.SayText(objecttext.BadStart), c.Usagef("%v", bad)
	}
	return report.Answer{}, c.Usagef("%v", bad)
}
