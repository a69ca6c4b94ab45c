package typecmd

import (
	"errors"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/typetext"
	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/objects"
)

func dumpALCCommand() cli.Command {
	return cli.Command{
		Name: "dumpalc", Group: cli.GroupTypes, NeedsDump: true, Ask: askDumpALC,
		Summary: "print the AssemblyLoadContext that the type of an object was loaded into",
		Args:    []cli.Arg{ask.Object("address", "address of the object")},
		Result:  report.Result[answer.LoadContext](),
	}
}

func askDumpALC(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	alc, err := r.DescribeLoadContext(c.Context(), a)
	var invalid *objects.InvalidError
	switch {
	case errors.As(err, &invalid):
		return report.SayText(func(p *report.Page) { typetext.InvalidObject(p, err) }), err
	case err != nil:
		return report.Answer{}, err
	}
	return report.Say(alc, typetext.LoadContext), nil
}
