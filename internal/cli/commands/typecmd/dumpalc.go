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
	return cli.Ask(cli.Command{
		Name:    "dumpalc",
		Summary: "print the AssemblyLoadContext that the type of an object was loaded into",
	}, askDumpALC, typetext.LoadContext)
}

func askDumpALC(c *cli.Context, o *object) (*answer.LoadContext, error) {
	alc, err := ask.View(c).LoadContext(ask.Context(c), o.Object.Addr)
	var invalid *objects.InvalidError
	if errors.As(err, &invalid) {
		return nil, cli.WithText(func(p *report.Page) { typetext.InvalidObject(p, err) }, err)
	}
	return alc, err
}
