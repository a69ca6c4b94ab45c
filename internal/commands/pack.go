package commands

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/report"
)

type packResult struct {
	File    string       `json:"file" doc:"the pack"`
	Files   []packedFile `json:"files" doc:"the module files in it"`
	Missing []string     `json:"missing" doc:"modules whose files were not found"`
}

type packedFile struct {
	Path string `json:"path" doc:"where the file was found"`
	Size int64  `json:"size" doc:"bytes"`
}

func packCommand() cli.Command {
	return cli.Command{
		Name: "pack", Group: cli.GroupProcess, NeedsDump: true,
		Summary: "put the dump and its module files into one archive",
		Help: "The archive (.tar.zst) is a dump that sosgo opens like any other, and that is complete on every machine. " +
			"Module files are looked for in --modules, at their recorded paths, in the installed .NET, NuGet's folder and symbol caches, " +
			"and on a --symbol-server; only those that are proved to be the ones of the process are taken.",
		Options:  []cli.Option{{Name: "o", Aliases: []string{"out"}, Kind: cli.File, Value: "FILE", Summary: "the archive to write; it must not exist"}},
		Examples: []cli.Example{{Line: "pack -o crash.tar.zst --modules ./publish", Text: "a dump that can be sent as one file"}},
		Result:   []report.Part{report.Whole[packResult]()},
		Run:      runPack,
	}
}

func runPack(c *cli.Context) error {
	name, ok := c.Str("o")
	if !ok {
		return c.Usagef("-o FILE is missing")
	}
	packed, err := writePack(c, name)
	if err != nil {
		return err
	}
	result := packResult{File: name}
	for _, f := range packed.Files {
		result.Files = append(result.Files, packedFile{f.Path, f.Size})
	}
	for _, m := range packed.Missing {
		result.Missing = append(result.Missing, m.Path)
	}
	if e := c.JSON(); e != nil {
		return e.Value(result)
	}
	c.Printf("%s: the dump and %d module files\n", report.Escape(name), len(result.Files))
	for _, m := range result.Missing {
		c.Printf("not found: %s\n", report.Escape(m))
	}
	return nil
}

// writePack writes the archive beside its place and moves it there when it is
// whole.
func writePack(c *cli.Context, name string) (_ *dump.Packed, err error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, c.Usagef("%s exists already", name)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".sosgo-pack-*")
	if err != nil {
		return nil, err
	}
	progress := c.Progress("packing")
	defer progress.Done()
	packed, err := dumpOf(c).Pack(c.Context(), tmp, func(done, total int64) { progress.Set(uint64(done), uint64(total)) })
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(tmp.Name()))
	}
	return packed, nil
}
