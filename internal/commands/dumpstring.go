package commands

import (
	"bufio"
	"io"
	"os"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

func dumpStringCommand() cli.Command {
	return cli.Command{
		Name: "dumpstring", Aliases: []string{"ds"}, Group: cli.GroupObjects,
		Summary: "print the whole text of a string",
		Help: "The text goes to the output with control characters made visible, line feeds and tabs excepted; with -out it goes to\n" +
			"the file as it is, in UTF-8. Strings of any length are streamed. Unpaired surrogates become U+FFFD.",
		Options: []cli.Option{
			{Name: "out", Kind: cli.File, Summary: "write the text to that file"},
			{Name: "raw", Kind: cli.Bool, Summary: "write the text to the output as it is"},
		},
		Args:      []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "address of the string"}},
		Examples:  []cli.Example{{Line: "dumpstring -out body.json 7efbcd805f00", Text: "write the string to a file"}},
		Result:    []report.Part{report.Whole[stringResult]()},
		NeedsDump: true,
		Run:       runDumpString,
	}
}

// A stringResult is what dumpstring answers.
type stringResult struct {
	Address report.Address `json:"address" doc:"address of the string"`
	Length  uint32         `json:"length" doc:"number of UTF-16 code units"`
	Text    string         `json:"text,omitempty" doc:"the text, unless it went to a file"`
	File    string         `json:"file,omitempty" doc:"the file that it was written to"`
}

func runDumpString(c *cli.Context) error {
	r, err := viewOf(c).Objects()
	if err != nil {
		return err
	}
	a, _ := c.Addr("address")
	o, err := r.Object(a)
	if err != nil {
		return err
	}
	if !o.IsString() {
		name, _ := o.Type.Name() // it only adds to the message
		return target.Unsupportedf("object %016x is no string but %s", uint64(a), name)
	}
	n, err := o.Length()
	if err != nil {
		return err
	}
	res := stringResult{Address: report.Address(a), Length: n}
	if path, ok := c.Str("out"); ok {
		if err := writeStringFile(o, path); err != nil {
			return err
		}
		res.File = path
		if c.JSON() == nil {
			return nil
		}
		return c.JSON().Value(res)
	}
	if c.JSON() != nil {
		if res.Text, err = o.Text(-1); err != nil {
			return err
		}
		return c.JSON().Value(res)
	}
	if c.Bool("raw") {
		return o.WriteText(c.Out)
	}
	err = o.WriteText(escapingWriter{c.Out})
	c.Printf("\n")
	return err
}

func writeStringFile(o objects.Object, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	err = o.WriteText(w)
	if ferr := w.Flush(); err == nil {
		err = ferr
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// An escapingWriter makes text safe for a terminal. Each write has to hold
// whole characters.
type escapingWriter struct{ w io.Writer }

func (e escapingWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(e.w, report.EscapeText(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
