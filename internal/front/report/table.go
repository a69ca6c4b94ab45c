package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// A Kind selects the format of a column's cells. Widths, alignments and number formats are as in SOS.
type Kind uint8

// The kinds of columns.
const (
	Pointer       Kind = iota // 16 wide, right: at least 12 hexadecimal digits
	Integer                   // 14 wide, right: decimal with commas
	PlainInteger              // 10 wide, right: decimal
	HexValue                  // 18 wide, right: 0x and at least 2 digits
	HexOffset                 // 10 wide, right: the same, signed
	HumanReadable             // 12 wide, right: 1.23mb
	Loose                     // unlimited, left; a longer cell is not cut and pushes the rest of its line to the right
	TypeName                  // unlimited, left; loses its start when cut
	Text                      // unlimited, left; loses its end when cut
)

// unlimited is the width of a column that is neither padded nor cut.
const unlimited = -1

var kindWidths = [...]int{
	Pointer: 16, Integer: 14, PlainInteger: 10, HexValue: 18, HexOffset: 10, HumanReadable: 12,
	Loose: unlimited, TypeName: unlimited, Text: unlimited,
}

// A Column is one column of a Table.
type Column struct {
	Name  string // header; empty for none
	Kind  Kind
	Width int  // in characters; 0 means the kind's
	Fit   bool // as wide as the widest cell or the name; holds the rows until Flush
	Left  bool // align left what the kind aligns right
	Right bool // align right what the kind aligns left
}

func (c *Column) left() bool { return c.Left || c.Kind >= Loose && !c.Right }

// A Table writes rows in columns separated by one space, like SOS's managed commands. Without fitted columns, it
// writes each row at once without allocating. With fitted columns, it keeps all rows until Flush, which suits small
// tables. It must be used by one goroutine.
type Table struct {
	Indent string // written in front of every line

	w      io.Writer
	cols   []Column
	ragged bool // the last cell of a row is not padded

	cells cellWriter // w, if it masks secrets; else nil
	page  *Page      // with cells
	ends  []int      // where the cells of row begin and end, with cells

	fit    bool
	pad    int // spaces that the cell before lacks
	row    []byte
	cell   int
	num    []byte
	header bool
	held   [][]string
	cur    []string
	err    error
}

// NewTable returns a table that writes to w.
func NewTable(w io.Writer, cols ...Column) *Table {
	t := &Table{w: w, cols: append([]Column(nil), cols...)}
	if p, ok := w.(*Page); ok && p.cells != nil {
		t.page, t.cells = p, p.cells
	}
	for i := range t.cols {
		c := &t.cols[i]
		if c.Width == 0 {
			c.Width = kindWidths[c.Kind]
		}
		if c.Fit {
			t.fit, c.Width = true, utf8.RuneCountInString(c.Name)
		}
		if c.Width != unlimited {
			c.Width = max(c.Width, utf8.RuneCountInString(c.Name))
		}
	}
	return t
}

// NewColumnTable returns a table in the form of SOS's native commands. Widths are fixed; a cell that is too long
// moves the rest of the line to the right, and the last cell is not padded. As in printf, a positive width aligns
// right and a negative one left. The last width may be 0.
func NewColumnTable(w io.Writer, widths ...int) *Table {
	cols := make([]Column, len(widths))
	for i, n := range widths {
		cols[i] = Column{Kind: Loose, Width: max(n, -n), Right: n > 0}
	}
	t := NewTable(w, cols...)
	t.ragged = true
	return t
}

// Header writes the columns' names, up to the last column that has one.
func (t *Table) Header() error {
	if t.fit {
		t.header = true
		return nil
	}
	return t.writeHeader()
}

func (t *Table) writeHeader() error {
	last := -1
	for i := range t.cols {
		if t.cols[i].Name != "" {
			last = i
		}
	}
	for i := 0; i <= last; i++ {
		t.append(t.cols[i].Name)
	}
	return t.endLine()
}

// Row writes one row of cells: integers of any type in the form of their column's kind, nil for an empty cell, and the
// rest as fmt prints it. The methods Uint, Int, Text and End do the same without allocating.
func (t *Table) Row(cells ...any) error {
	for _, c := range cells {
		t.any(c)
	}
	return t.End()
}

func (t *Table) any(c any) {
	v := reflect.ValueOf(c)
	switch {
	case !v.IsValid():
		t.Text("")
	case v.CanUint():
		t.Uint(v.Uint())
	case v.CanInt():
		t.Int(v.Int())
	default:
		t.Text(fmt.Sprint(c))
	}
}

// Uint adds a cell in the form of its column's kind.
func (t *Table) Uint(v uint64) {
	t.num = appendUnsigned(t.num[:0], v, t.kind())
	t.number()
}

// Int adds a cell in the form of its column's kind.
func (t *Table) Int(v int64) {
	t.num = appendSigned(t.num[:0], v, t.kind())
	t.number()
}

// Text adds a cell with escaped text.
func (t *Table) Text(s string) {
	s = Escape(s)
	if t.cells != nil {
		s = t.page.Masked(s) // before it is cut
	}
	if t.fit {
		t.cur = append(t.cur, s)
		return
	}
	t.append(s)
}

func (t *Table) number() {
	if t.fit {
		t.cur = append(t.cur, string(t.num))
		return
	}
	width, left := unlimited, true
	if t.cell < len(t.cols) {
		c := &t.cols[t.cell]
		width, left = c.Width, c.left()
	}
	t.separate()
	t.pad = width - len(t.num)
	if !left {
		t.spaces()
	}
	add(t, t.num)
}

// add adds the text of a cell to the row.
func add[T []byte | string](t *Table, text T) {
	from := len(t.row)
	t.row = append(t.row, text...)
	if t.cells != nil {
		t.ends = append(t.ends, from, len(t.row))
	}
	t.cell++
}

// End ends the row and returns the first error of the writer.
func (t *Table) End() error {
	if t.fit {
		t.held, t.cur = append(t.held, t.cur), make([]string, 0, len(t.cur))
		return t.err
	}
	return t.endLine()
}

// Flush writes the rows held back for fitted columns.
func (t *Table) Flush() error {
	for _, row := range t.held {
		for i, s := range row {
			if i < len(t.cols) && t.cols[i].Fit {
				t.cols[i].Width = max(t.cols[i].Width, utf8.RuneCountInString(s))
			}
		}
	}
	if t.header {
		t.header = false
		t.writeHeader()
	}
	for _, row := range t.held {
		for _, s := range row {
			t.append(s)
		}
		t.endLine()
	}
	t.held = nil
	return t.err
}

// kind returns the kind of the next cell. Cells after the last column are text.
func (t *Table) kind() Kind {
	i := t.cell
	if t.fit {
		i = len(t.cur)
	}
	if i < len(t.cols) {
		return t.cols[i].Kind
	}
	return Text
}

func (t *Table) append(s string) {
	c := Column{Kind: Text, Width: unlimited}
	if t.cell < len(t.cols) {
		c = t.cols[t.cell]
	}
	s = cut(s, c)
	t.separate()
	t.pad = c.Width - utf8.RuneCountInString(s)
	if !c.left() {
		t.spaces()
	}
	add(t, s)
}

// spaces writes the padding of a cell.
func (t *Table) spaces() { t.row, t.pad = appendSpaces(t.row, t.pad), 0 }

// separate begins a cell.
func (t *Table) separate() {
	t.spaces()
	switch {
	case t.cell > 0:
		t.row = append(t.row, ' ')
	default:
		t.row = append(t.row, t.Indent...)
	}
}

func (t *Table) endLine() error {
	if t.ragged {
		t.pad = 0
	}
	t.spaces()
	t.row = append(t.row, '\n')
	last := 0
	for i := 0; i+1 < len(t.ends) && t.err == nil; i += 2 {
		_, t.err = t.w.Write(t.row[last:t.ends[i]])
		t.err = cmp.Or(t.err, t.cells.WriteCell(string(t.row[t.ends[i]:t.ends[i+1]])))
		last = t.ends[i+1]
	}
	if t.err == nil {
		_, t.err = t.w.Write(t.row[last:])
	}
	t.row, t.ends, t.cell = t.row[:0], t.ends[:0], 0
	return t.err
}

// cut shortens text to its column; numbers are never cut.
func cut(s string, c Column) string {
	if c.Width < 0 || c.Kind < TypeName || len(s) <= c.Width {
		return s
	}
	if c.Kind == TypeName {
		return CutStart(s, c.Width)
	}
	return CutEnd(s, c.Width)
}

// CutStart shortens s to n characters as SOS shortens type names: "..." replaces its start, since its end is more
// specific.
func CutStart(s string, n int) string {
	over := characters(s) - n
	if over <= 0 {
		return s
	}
	if n <= 3 {
		return s[runeOffset(s, over):]
	}
	return "..." + s[runeOffset(s, over+3):]
}

// CutEnd shortens s to n characters that end in "...".
func CutEnd(s string, n int) string {
	if len(s) <= n || characters(s) <= n {
		return s
	}
	if n <= 3 {
		return s[:runeOffset(s, max(n, 0))]
	}
	return s[:runeOffset(s, n-3)] + "..."
}

// characters returns the number of characters of s. A lone surrogate counts as one.
func characters(s string) int {
	n := 0
	for range utf16text.Runes(s) {
		n++
	}
	return n
}

// runeOffset returns the byte offset of the n-th character of s.
func runeOffset(s string, n int) int {
	for i := range utf16text.Runes(s) {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

func appendSpaces(b []byte, n int) []byte {
	const spaces = "                                "
	for n > 0 {
		k := min(n, len(spaces))
		b, n = append(b, spaces[:k]...), n-k
	}
	return b
}

// Summary writes a small table in sosgo's own form: columns as wide as their widest cell, aligned left and two spaces
// apart. Wide characters count as two. Summary holds all rows; SOS's forms and long lists use Table.
func Summary(w io.Writer, header []string, rows [][]string) error {
	if p, ok := w.(*Page); ok {
		return summary(cellsOf{p}, p.escapeAll(header), p.escapeRows(rows), nil)
	}
	p := (*Page)(nil)
	return summary(w, p.escapeAll(header), p.escapeRows(rows), nil)
}

// escapeAll escapes texts of the process as cells. p may be nil.
func (p *Page) escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = p.Cell(Escape(c))
	}
	return out
}

func (p *Page) escapeRows(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = p.escapeAll(r)
	}
	return out
}

// summary is like Summary for escaped text, with right-aligned columns.
func summary(w io.Writer, header []string, rows [][]string, right []bool) error {
	var b bytes.Buffer
	t := tablewriter.NewWriter(&b)
	t.SetAutoWrapText(false)
	t.SetAlignment(tablewriter.ALIGN_LEFT)
	t.SetBorder(false)
	t.SetCenterSeparator("")
	t.SetColumnSeparator("")
	t.SetRowSeparator("")
	t.SetTablePadding("  ")
	t.SetNoWhiteSpace(true)
	if slices.Contains(right, true) {
		alignment := make([]int, len(right))
		for i := range right {
			if alignment[i] = tablewriter.ALIGN_LEFT; right[i] {
				alignment[i] = tablewriter.ALIGN_RIGHT
			}
		}
		t.SetColumnAlignment(alignment)
	}
	if len(header) > 0 {
		t.Append(header) // as a row: names are aligned as their columns
	}
	for _, r := range rows {
		t.Append(r)
	}
	t.Render()
	return writeTrimmed(w, b.Bytes())
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
