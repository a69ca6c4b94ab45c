// Package querytext writes the answers to the user's own queries and expressions as text. It receives answers and
// cannot read a dump.
package querytext

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/front/report"
)

// heldRows is how many rows determine the widths of columns before the first is written.
const heldRows = 200

// widest is how wide a column of text becomes at most, if it is not the last; cells that are longer push the rest
// aside.
const widest = 60

// Query is the text of query.
func Query(p *report.Page, q *answer.Query) {
	if n := rows(p, q.Columns, q.Rows); n >= 0 {
		foot(p, n, q.More, q.Strength)
	}
}

// Listing is the text of dumpheap -select.
func Listing(p *report.Page, l *answer.Listing) {
	if n := rows(p, l.Columns, l.Rows); n >= 0 {
		foot(p, n, false, l.Strength)
	}
}

// rows writes the rows and returns their number, or -1 if the list has failed.
func rows(p *report.Page, columns []answer.QueryColumn, list iter.Seq2[answer.QueryRow, error]) int {
	t, n := table{page: p, columns: columns}, 0
	var reasons []string
	for row := range report.Each(p, list) {
		t.row(row.Cells)
		reasons = explain(reasons, row.Cells)
		n++
	}
	if p.Err() != nil {
		return -1
	}
	t.flush()
	for _, reason := range reasons {
		p.Print(report.Escape(reason) + "\n")
	}
	return n
}

// mostReasons bounds the reasons below the rows.
const mostReasons = 4

// explain adds to reasons why cells are missing, if their errors explain more than that the dump lacks them.
func explain(reasons []string, cells []answer.Cell) []string {
	for i := range cells {
		var why interface{ Explains() string }
		if cells[i].Kind != answer.CellMissing || len(reasons) == mostReasons || !errors.As(cells[i].Err, &why) {
			continue
		}
		if reason := why.Explains(); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}

func foot(p *report.Page, n int, more bool, strength answer.Strength) {
	words := " rows"
	if n == 1 {
		words = " row"
	}
	p.Print(report.Commas(uint64(n)) + words)
	if more {
		p.Print(", and there are more")
	}
	if strength != "" {
		p.Printf(" (%s: some objects count as live that only words which look like references hold)", strength)
	}
	p.Print("\n")
}

// A table writes rows of cells in columns.
type table struct {
	page    *report.Page
	columns []answer.QueryColumn
	held    [][]string
	right   []bool // numbers stand right
	widths  []int
	open    bool // the header is written
}

func (t *table) row(cells []answer.Cell) {
	if t.right == nil {
		t.right = make([]bool, len(t.columns))
		for i := range t.right {
			t.right[i] = true
		}
	}
	texts := make([]string, len(cells))
	for i := range cells {
		texts[i] = t.page.Cell(cellText(&cells[i], t.columns[i].Count))
		if !t.open && !isNumber(&cells[i]) {
			t.right[i] = false
		}
	}
	if t.open {
		t.write(texts)
		return
	}
	if t.held = append(t.held, texts); len(t.held) == heldRows {
		t.flush()
	}
}

func isNumber(c *answer.Cell) bool {
	switch c.Kind {
	case answer.CellInt, answer.CellUint, answer.CellFloat, answer.CellDecimal, answer.CellNull, answer.CellMissing, answer.CellAddress:
		return true
	}
	return false
}

// cellText formats a cell for a table.
func cellText(c *answer.Cell, count bool) string {
	switch c.Kind {
	case answer.CellInt, answer.CellUint:
		if count && int64(c.Bits) >= 0 {
			return report.Commas(c.Bits)
		}
	case answer.CellAddress:
		return report.Hex(c.Bits)
	case answer.CellObject:
		if c.String {
			return report.Escape(answer.Quote(c.Text))
		}
		if c.Text != "" {
			return report.Hex(c.Bits) + " " + report.Escape(c.Text)
		}
		return report.Hex(c.Bits) + " " + report.Escape(c.Type)
	}
	return report.Escape(c.Plain())
}

// flush writes the header and the rows that wait.
func (t *table) flush() {
	if t.open {
		return
	}
	t.open = true
	t.widths = make([]int, len(t.columns))
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = t.page.Cell(report.Escape(c.Name))
		t.widths[i] = report.CellWidth(names[i])
		for _, row := range t.held {
			t.widths[i] = max(t.widths[i], min(report.CellWidth(row[i]), widest))
		}
	}
	if t.right == nil {
		t.right = make([]bool, len(t.columns))
	}
	t.write(names)
	for _, row := range t.held {
		t.write(row)
	}
	t.held = nil
}

func (t *table) write(texts []string) {
	var b strings.Builder
	for i, s := range texts {
		pad := max(t.widths[i]-report.CellWidth(s), 0)
		if i > 0 {
			b.WriteByte(' ')
		}
		if t.right[i] {
			b.WriteString(strings.Repeat(" ", pad))
		}
		b.WriteString(s)
		if !t.right[i] && i < len(texts)-1 {
			b.WriteString(strings.Repeat(" ", pad))
		}
	}
	b.WriteByte('\n')
	t.page.PrintCells(b.String())
}

// Evaluations is the text of eval.
func Evaluations(p *report.Page, e *answer.Evaluations) {
	for i := range e.Values {
		v := &e.Values[i]
		if len(e.Values) > 1 {
			p.Print(report.Escape(v.Expression) + " = ")
		}
		evaluation(p, v)
	}
}

func evaluation(p *report.Page, v *answer.Evaluation) {
	if v.Kind == answer.CellList {
		list(p, v)
		return
	}
	c := &v.Value
	switch c.Kind {
	case answer.CellObject:
		if c.String {
			p.Print(report.Escape(answer.Quote(c.Text)))
		} else {
			p.Print(report.Hex(c.Bits))
		}
		p.Print("  (" + report.Escape(v.Type))
		if c.String {
			p.Print(" " + report.Hex(c.Bits))
		}
		p.Print(")")
		if !c.String && c.Text != "" {
			p.Print("  " + report.Escape(c.Text))
		}
	case answer.CellStruct:
		p.Print(report.Escape(c.Plain()) + "  (" + report.Escape(v.Type) + " " + report.Hex(c.Bits) + ")")
	case answer.CellType:
		p.Print(report.Escape(c.Text) + "  (MethodTable " + report.Hex(c.Bits) + ")")
	case answer.CellInt, answer.CellUint:
		p.Print(c.Plain())
		if c.Bits >= 10 && (c.Kind == answer.CellUint || int64(c.Bits) > 0) {
			p.Printf("  (%#x)", c.Bits)
		}
	case answer.CellAddress:
		p.Printf("%#x  (%d)", c.Bits, c.Bits)
	case answer.CellEnum:
		p.Printf("%s  (%s %s)", report.Escape(c.Text), report.Escape(c.Type), c.Number())
	case answer.CellText:
		p.Print(report.Escape(answer.Quote(c.Text)))
	case answer.CellMissing:
		p.Print(answer.Absent(c.Err) + "  " + report.Escape(c.Err.Error()))
	default:
		p.Print(report.Escape(c.Plain()))
	}
	if v.Strength != "" {
		p.Print("  (" + string(v.Strength) + ": only words that look like references hold the object)")
	}
	p.Print("\n")
}

func list(p *report.Page, v *answer.Evaluation) {
	p.Printf("%d items\n", v.Count)
	for i := range v.Items {
		p.Printf("  [%d] %s\n", i, cellText(&v.Items[i], false))
	}
	if rest := v.Count - uint64(len(v.Items)); rest > 0 {
		p.Printf("  and %d others\n", rest)
	}
}
