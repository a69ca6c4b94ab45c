package report

import (
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
)

// A cardColumn is a column of a table.
type cardColumn struct {
	name   string
	number bool // a number, address or time; such columns come first
	cells  []string
}

// table returns the header and rows of a list. It omits empty columns.
func (c *cards) table(plan *jsonenc.Plan, v reflect.Value) []string {
	var columns []cardColumn
	for i := range v.Len() {
		if row, missing := present(v.Index(i)); missing == nil && row.IsValid() {
			columns = c.row(columns, i, plan, row)
		}
	}
	columns = slices.DeleteFunc(columns, func(c cardColumn) bool { return strings.Join(c.cells, "") == "" })
	slices.SortStableFunc(columns, func(a, b cardColumn) int {
		if a.number == b.number {
			return 0
		}
		if a.number {
			return -1
		}
		return 1
	})
	if len(columns) == 0 {
		return nil
	}
	return tableLines(columns)
}

// row adds the cells of a row.
func (c *cards) row(columns []cardColumn, i int, plan *jsonenc.Plan, v reflect.Value) []cardColumn {
	n, r := -1, &record{}
	plan.Every(v, func(f *jsonenc.Field, v reflect.Value, omitted bool) {
		tag := c.tag(f)
		switch {
		case tag.place == placeNone:
			return
		case tag.place == placeJoin && n >= 0: // in the cell of the previous field
		default:
			n, r = n+1, &record{}
		}
		if n == len(columns) {
			columns = append(columns, cardColumn{name: tag.header(f.Name), number: isNumber(f.Plan.Core())})
		}
		c.field(r, f, tag, v, omitted)
		columns[n].cells = append(columns[n].cells[:min(i, len(columns[n].cells))], r.cell())
	})
	return columns
}

// cell returns the text of a one-field record without its label.
func (r *record) cell() string {
	text := r.head
	for _, p := range append(r.parts, r.lines...) {
		text += p.Text
	}
	return text
}

func isNumber(p *jsonenc.Plan) bool {
	switch p.Kind() {
	case jsonenc.Integer, jsonenc.Number, jsonenc.Address:
		return true
	}
	return p.Type == reflect.TypeFor[time.Time]()
}

// header returns the name of a column.
func (t *cardTag) header(name string) string {
	if label := t.label(); label != "" && t.forms[0] == label {
		name = label
	} else {
		name = cardWords(name)
	}
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[n:]
}

// tableLines returns the lines of a table with the columns.
func tableLines(columns []cardColumn) []string {
	header, right := make([]string, len(columns)), make([]bool, len(columns))
	rows := make([][]string, len(columns[0].cells))
	for n, c := range columns {
		header[n], right[n] = Escape(c.name), c.number
		for i := range rows {
			rows[i] = append(rows[i], escapeCells(c.cells[i]))
		}
	}
	var b strings.Builder
	_ = summary(&b, header, rows, right) // a Builder never fails
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}
