package exportcmd

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/scrub"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/front/cli/text/exporttext"
	"github.com/sosgo/sosgo/process"
)

type scrubOptions struct {
	Out     string `opt:"o,out" kind:"file" value:"FILE" required:"true" help:"the dump to write, which must not exist; one that ends in .zst is compressed"`
	Numbers bool   `opt:"numbers" help:"blank numbers, dates and ids of the program's own types, too"`
	cli.DumpFile
}

func scrubCommand() cli.Command {
	return cli.Ask(cli.Command{
		Name: "scrub", DumpArg: true,
		Summary: "write a dump without the data of its process, to be sent",
		Help: "The new dump has the objects, types, stacks, locks and tasks of the process where they were, so that every command explains it as before. Strings, arrays of characters, bytes and " +
			"numbers, unused memory, the command line, the environment, and what else is no pointer on stacks and in native memory are replaced; lengths stay, and equal texts stay equal. " +
			"Names of types, methods, modules and files stay, and so do numbers in fields without -numbers. docs/scrub.md has what is promised and what is not.",
		Examples: []cli.Example{
			{Line: "scrub core.4711 -o scrubbed.dmp.zst", Text: "a dump for those who may see the program but not its data"},
		},
	}, askScrub, exporttext.Scrub)
}

func askScrub(c *cli.Context, o *scrubOptions) (*answer.Scrubbed, error) {
	out, err := writeDump(c, o.Out, scrub.Options{Numbers: o.Numbers}, scrub.Write)
	if err != nil {
		return nil, err
	}
	out.File = o.Out
	return out, nil
}

// writeDump writes a dump to a new file and compares it with the open one.
func writeDump[A any](c *cli.Context, file string, o scrub.Options, write func(context.Context, *process.Dump, io.Writer, scrub.Options) (*A, error)) (out *A, err error) {
	d := ask.Dump(c)
	o.Compress, o.Progress = strings.HasSuffix(file, ".zst"), c.Progress("writing").Set
	err = c.WriteFile(file, cli.Private, func(w io.Writer) (err error) {
		if out, err = write(c.Context(), d, w, o); err == nil {
			err = verify(c.Context(), d, w)
		}
		return err
	})
	return out, err
}

// verify opens the written file and compares it with d. Pipes cannot be verified.
func verify(ctx context.Context, d *process.Dump, w io.Writer) error {
	f, ok := w.(interface {
		Name() string
		Stat() (fs.FileInfo, error)
	})
	if !ok {
		return nil
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return err
	}
	written, err := d.Like(f.Name(), scrub.UserFolders(d.Target())...)
	if err != nil {
		return err
	}
	return errors.Join(scrub.Verify(ctx, d, written), written.Close())
}
