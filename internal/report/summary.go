package report

import (
	"bytes"
	"io"

	"github.com/olekukonko/tablewriter"
)

// Summary writes a small table in sosgo's own form: columns as wide as their widest cell, aligned left and two spaces
// apart. Wide characters count as two. Summary holds all rows; SOS's forms and long lists use Table.
func Summary(w io.Writer, header []string, rows [][]string) error {
	var b bytes.Buffer
	t := tablewriter.NewWriter(&b)
	t.SetAutoFormatHeaders(false)
	t.SetAutoWrapText(false)
	t.SetHeaderAlignment(tablewriter.ALIGN_LEFT)
	t.SetAlignment(tablewriter.ALIGN_LEFT)
	t.SetBorder(false)
	t.SetHeaderLine(false)
	t.SetCenterSeparator("")
	t.SetColumnSeparator("")
	t.SetRowSeparator("")
	t.SetTablePadding("  ")
	t.SetNoWhiteSpace(true)
	if len(header) > 0 {
		t.SetHeader(escapeAll(header))
	}
	for _, r := range rows {
		t.Append(escapeAll(r))
	}
	t.Render()
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
