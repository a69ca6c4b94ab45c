package exportcmd

import (
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/scrub"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/text/exporttext"
)

type shrinkOptions struct {
	Out string `opt:"o,out" kind:"file" value:"FILE" required:"true" help:"the dump to write, which must not exist; one that ends in .zst is compressed, which makes it small"`
	cli.DumpFile
}

func shrinkCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "shrink", DumpArg: true,
		Summary: "write a small dump that explains its process as before",
		Help: "The new dump leaves out what nobody needs to explain the process: texts of strings, arrays of numbers, numbers in objects of the " +
			"program's own types, unused memory of the heap and of stacks, and native memory that no command reads. What triage and the commands for " +
			"crashes, hangs and leaks read stays, whatever it is, and so do all objects, types, references, locks and tasks. What is left out is " +
			"marked, and a command that asks for it says so; other tools, and older versions of sosgo, see the mark as data. The dump has secrets as " +
			"before: see scrub. docs/shrink.md has what is left out and what is promised.",
		Examples: []cli.Example{
			{Line: "shrink core.4711 -o small.dmp.zst", Text: "a dump to keep, or to send over a slow line"},
		},
	}, askShrink, exporttext.Shrink)
}

func askShrink(c *cli.Context, o *shrinkOptions) (*answer.Shrunk, error) {
	out, err := writeDump(c, o.Out, scrub.Options{}, scrub.Shrink)
	if err != nil {
		return nil, err
	}
	out.File = o.Out
	return out, nil
}
