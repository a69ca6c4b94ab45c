package processcmd

import (
	"errors"
	"io/fs"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
)

type packOptions struct {
	Out string `opt:"o,out" kind:"file" value:"FILE" required:"true" help:"the archive to write; it must not exist"`
}

func packCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name:    "pack",
		Summary: "pack the dump and its module files into one archive",
		Help: "The archive (.tar.zst) is a dump that sosgo opens like any other, and that is complete on every machine. " +
			"Module files are looked for in --modules, at their recorded paths, in the installed .NET, NuGet's folder and symbol caches, " +
			"and on a --symbol-server; only files verified to be those of the process are included.",
		Examples: []cli.Example{{Line: "pack -o crash.tar.zst --modules ./publish", Text: "a dump that can be sent as one file"}},
	}, askPack, processtext.Pack)
}

func askPack(c *cli.Context, o *packOptions) (*answer.Pack, error) {
	progress := c.Progress("packing")
	packed, err := ask.Dump(c).PackFile(c.Context(), o.Out, func(done, total int64) { progress.Set(uint64(done), uint64(total)) })
	if errors.Is(err, fs.ErrExist) {
		err = c.Usagef("%s already exists", o.Out)
	}
	return packed, err
}
