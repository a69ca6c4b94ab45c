package objectcmd

import (
	"bufio"
	"cmp"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/internal/cli/commands/ask"
	"github.com/sosgo/sosgo/internal/cli/text/objecttext"
	"github.com/sosgo/sosgo/internal/report"
)

type stringOptions struct {
	Out    string     `opt:"out" kind:"file" help:"the file to write the text to"`
	Raw    bool       `opt:"raw" help:"the text as it is"`
	Object cli.Object `arg:"address" help:"the string"`
}

func dumpStringCommand() cli.Command {
	return cli.AskWith(cli.Command{
		Name: "dumpstring", Aliases: []string{"ds"},
		Summary: "print the whole text of a string",
		Help: "The text is printed with control characters made visible, except line feeds and tabs; -out writes it to\n" +
			"the file as it is, in UTF-8. Strings of any length are streamed. Unpaired surrogates become U+FFFD.",
		Examples: []cli.Example{{Line: "dumpstring -out body.json 7efbcd805f00", Text: "write the string to a file"}},
	}, askDumpString, func(p *report.Page, s *answer.String, o *stringOptions) {
		if o.Raw {
			objecttext.RawString(p, s)
		} else {
			objecttext.String(p, s)
		}
	})
}

func askDumpString(c *cli.Context, o *stringOptions) (*answer.String, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return nil, err
	}
	s, err := r.DescribeString(o.Object.Addr)
	if err != nil || o.Out == "" {
		return s, err
	}
	if err := writeTextFile(c, o.Out, s.Text); err != nil {
		return nil, err
	}
	s.Text, s.File = answer.LongText{}, o.Out
	return s, nil
}

// writeTextFile writes a text to a file as it is.
func writeTextFile(c *cli.Context, path string, text answer.LongText) error {
	return c.WriteFile(path, cli.Replace, func(w io.Writer) error {
		buf := bufio.NewWriter(w)
		err := text.StreamText(func(part string) error {
			_, err := buf.WriteString(part)
			return err
		})
		return cmp.Or(err, buf.Flush())
	})
}
