package report

import "io"

// A ColumnTable writes rows in the form of SOS's native commands: fixed widths, one space between columns, cells that
// are too long push the rest to the right, and the last column is not padded.
type ColumnTable struct {
	Indent string // written in front of every line

	w      io.Writer
	widths []int
	row    []byte
}

// NewColumnTable returns a table that writes to w. A positive width aligns right, a negative one left, as in printf.
func NewColumnTable(w io.Writer, widths ...int) *ColumnTable {
	return &ColumnTable{w: w, widths: widths}
}

// Row writes one row. Cells are escaped.
func (t *ColumnTable) Row(cells ...string) error {
	t.row = append(t.row[:0], t.Indent...)
	for i, s := range cells {
		if i > 0 {
			t.row = append(t.row, ' ')
		}
		t.appendCell(i, Escape(s), i == len(cells)-1)
	}
	t.row = append(t.row, '\n')
	_, err := t.w.Write(t.row)
	return err
}

func (t *ColumnTable) appendCell(i int, s string, last bool) {
	switch {
	case i >= len(t.widths) || last && t.widths[i] <= 0:
		t.row = append(t.row, s...)
	case t.widths[i] < 0:
		t.row = appendPadded(t.row, s, -t.widths[i], true)
	default:
		t.row = appendPadded(t.row, s, t.widths[i], false)
	}
}
