package objectcmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/objects"
)

type arrayOptions struct {
	Start    *int64     `opt:"start" help:"first index, for an array of one dimension"`
	Length   *int64     `opt:"length" help:"number of elements, for an array of one dimension"`
	Details  bool       `opt:"details" help:"each element as dumpobj or dumpvc shows it"`
	NoFields bool       `opt:"nofields" help:"with -details: no fields of the elements"`
	Object   cli.Object `arg:"address" help:"the array"`
}

func dumpArrayCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "dumparray",
		Summary: "list the elements of an array",
		Help: "The elements of an array of structs or numbers are shown by their addresses, for dumpvc. Except in SOS's form,\n" +
			"values that fit on the line follow.",
		Examples: []cli.Example{{Line: "dumparray -start 10 -length 5 7efbcd805f00", Text: "list elements 10 to 14"}},
	}, askDumpArray, objecttext.Array)
}

func askDumpArray(c *cli.Context, o *arrayOptions) (*answer.Array, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	a, err := r.DescribeArray(c.Context(), o.Object.Addr, objects.ArrayOptions{Details: o.Details, NoFields: o.NoFields, Start: o.Start, Length: o.Length})
	if err != nil {
		return nil, noArray(c, err)
	}
	return a, nil
}

// noArray explains that there is no array, or none with such elements.
func noArray(c *cli.Context, err error) error {
	var bad *objects.RangeError
	switch {
	case errors.Is(err, objects.ErrNotArray):
		return cli.WithText(objecttext.NotArray, err)
	case !errors.As(err, &bad):
		return invalidObject(err)
	case bad.Array.Rank > 1:
		return cli.WithText(objecttext.BadRank, c.Usagef("%v", bad))
	case bad.Option == "Start":
		return cli.WithText(objecttext.BadStart, c.Usagef("%v", bad))
	}
	return c.Usagef("%v", bad)
}
