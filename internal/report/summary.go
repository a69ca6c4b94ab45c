package report

import (
	"bytes"
	"io"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Summary writes a small table in sosgo's own form: columns as wide as they
// have to be, aligned left, two spaces apart, wide characters counted as two.
// It is for answers that SOS does not have; it holds all rows, and SOS's forms
// and long lists are a Table's.
func Summary(w io.Writer, header []string, rows [][]string) error {
	var b bytes.Buffer
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		// By default the library re-cases headers, trims and wraps cells.
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithTrimLine(tw.Off),
		tablewriter.WithTrimTab(tw.Off),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithPadding(tw.Padding{Right: "  ", Overwrite: true}),
	)
	if len(header) > 0 {
		t.Header(escapeAll(header))
	}
	for _, r := range rows {
		if err := t.Append(escapeAll(r)); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	return writeTrimmed(w, b.Bytes())
}

func escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = Escape(c)
	}
	return out
}

// writeTrimmed writes lines without the spaces at their ends.
func writeTrimmed(w io.Writer, text []byte) error {
	for l := range bytes.Lines(text) {
		if _, err := w.Write(append(bytes.TrimRight(l, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}
