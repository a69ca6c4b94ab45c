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

func dumpStringCommand() cli.Command {
	return cli.Command{
		Name: "dumpstring", Aliases: []string{"ds"}, Group: cli.GroupObjects, NeedsDump: true, Ask: askDumpString,
		Summary: "print the whole text of a string",
		Help: "The text goes to the output with control characters made visible, line feeds and tabs excepted; with -out it goes to\n" +
			"the file as it is, in UTF-8. Strings of any length are streamed. Unpaired surrogates become U+FFFD.",
		Options: []cli.Option{
			{Name: "out", Kind: cli.File, Summary: "write the text to that file"},
			{Name: "raw", Kind: cli.Bool, Summary: "write the text to the output as it is"},
		},
		Args:     []cli.Arg{ask.Object("address", "address of the string")},
		Examples: []cli.Example{{Line: "dumpstring -out body.json 7efbcd805f00", Text: "write the string to a file"}},
		Result:   report.Result[answer.String](),
	}
}

func askDumpString(c *cli.Context) (report.Answer, error) {
	r, err := ask.Objects(c)
	if err != nil {
		return report.Answer{}, err
	}
	a, _ := c.Addr("address")
	s, err := r.DescribeString(a)
	if err != nil {
		return report.Answer{}, err
	}
	if path, ok := c.Str("out"); ok {
		if err := writeTextFile(c, path, s.Text); err != nil {
			return report.Answer{}, err
		}
		s.Text, s.File = answer.LongText{}, path
	}
	if c.Bool("raw") {
		return report.Say(s, objecttext.RawString), nil
	}
	return report.Say(s, objecttext.String), nil
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
