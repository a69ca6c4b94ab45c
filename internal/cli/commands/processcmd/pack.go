package processcmd

import (
	"errors"
	"io/fs"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/processtext"
	"github.com/sosgo/sosgo/internal/report"
)

func packCommand() cli.Command {
	return cli.Command{
		Name: "pack", Group: cli.GroupProcess, NeedsDump: true,
		Summary: "put the dump and its module files into one archive",
		Help: "The archive (.tar.zst) is a dump that sosgo opens like any other, and that is complete on every machine. " +
			"Module files are looked for in --modules, at their recorded paths, in the installed .NET, NuGet's folder and symbol caches, " +
			"and on a --symbol-server; only those that are proved to be the ones of the process are taken.",
		Options:  []cli.Option{{Name: "o", Aliases: []string{"out"}, Kind: cli.File, Value: "FILE", Summary: "the archive to write; it must not exist"}},
		Examples: []cli.Example{{Line: "pack -o crash.tar.zst --modules ./publish", Text: "a dump that can be sent as one file"}},
		Result:   report.Result[answer.Pack](),
		Ask:      askPack,
	}
}

func askPack(c *cli.Context) (report.Answer, error) {
	name, ok := c.Str("o")
	if !ok {
		return report.Answer{}, c.Usagef("-o FILE is missing")
	}
	progress := c.Progress("packing")
	defer progress.Done()
	packed, err := ask.Dump(c).PackFile(c.Context(), name, func(done, total int64) { progress.Set(uint64(done), uint64(total)) })
	if errors.Is(err, fs.ErrExist) {
		return report.Answer{}, c.Usagef("%s exists already", name)
	}
	return ask.Say(packed, err, processtext.Pack)
}
