package tables_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/internal/export/tables"
	"github.com/sosgo/sosgo/target"
)

// queryOf returns a query with columns a, b, … and these rows, then the errors.
func queryOf(rows [][]answer.Cell, names []string, lost ...error) *answer.Query {
	q := &answer.Query{}
	for _, n := range names {
		q.Columns = append(q.Columns, answer.QueryColumn{Name: n})
	}
	q.Rows = func(yield func(answer.QueryRow, error) bool) {
		for _, cells := range rows {
			if !yield(answer.QueryRow{Columns: q.Columns, Cells: cells}, nil) {
				return
			}
		}
		for _, err := range lost {
			if !yield(answer.QueryRow{}, err) {
				return
			}
		}
	}
	return q
}

func writtenQuery(t *testing.T, q *answer.Query, o tables.Options) (string, error) {
	t.Helper()
	var b bytes.Buffer
	n, err := tables.WriteQuery(&b, q, o)
	if err == nil && o.Form == tables.NDJSON {
		assert.EqualValues(t, strings.Count(b.String(), "\n"), n)
	}
	return b.String(), err
}

var (
	none    = answer.Cell{Kind: answer.CellNull}
	missing = answer.Cell{Kind: answer.CellMissing, Err: target.ErrNotInDump}
)

func integer(n int64) answer.Cell   { return answer.Cell{Kind: answer.CellInt, Bits: uint64(n)} }
func unsigned(n uint64) answer.Cell { return answer.Cell{Kind: answer.CellUint, Bits: n} }
func float(f float64) answer.Cell {
	return answer.Cell{Kind: answer.CellFloat, Bits: math.Float64bits(f)}
}
func words(s string) answer.Cell { return answer.Cell{Kind: answer.CellText, Text: s} }
func object(a uint64) answer.Cell {
	return answer.Cell{Kind: answer.CellObject, Bits: a, Text: "x", Type: "T"}
}
func textObject(s string) answer.Cell {
	return answer.Cell{Kind: answer.CellObject, String: true, Bits: 8, Text: s}
}

// TestQueryKinds: a column has the kind of its values, text if they have several, and null without one.
func TestQueryKinds(t *testing.T) {
	for _, c := range []struct {
		name      string
		cells     []answer.Cell
		csv, json string // the values, separated by spaces
	}{
		{"integers", []answer.Cell{integer(-1), none, integer(2)}, "-1  2", `{"a":-1} {} {"a":2}`},
		{"sizes", []answer.Cell{unsigned(math.MaxUint64), missing}, "18446744073709551615 ", `{"a":18446744073709551615} {}`},
		{"both", []answer.Cell{unsigned(1), integer(-1)}, "1 -1", `{"a":1} {"a":-1}`},
		{"both, too large", []answer.Cell{unsigned(math.MaxUint64), integer(-1)}, "18446744073709551615 '-1", `{"a":"18446744073709551615"} {"a":"-1"}`},
		{"floats", []answer.Cell{float(1.5), integer(-2), unsigned(3), float(math.NaN())}, "1.5 -2 3 NaN", `{"a":1.5} {"a":-2} {"a":3} {"a":"NaN"}`},
		{"booleans", []answer.Cell{{Kind: answer.CellBool, Bits: 1}, {Kind: answer.CellBool}}, "true false", `{"a":true} {"a":false}`},
		{"objects", []answer.Cell{object(0x7f10), {Kind: answer.CellAddress, Bits: 16}}, "0x7f10 0x10", `{"a":"0x7f10"} {"a":"0x10"}`},
		{"texts", []answer.Cell{words("x"), textObject("=1"), {Kind: answer.CellDecimal, Text: "1.50"}, {Kind: answer.CellEnum, Text: "Red", Bits: 3}}, "x '=1 1.50 Red",
			`{"a":"x"} {"a":"=1"} {"a":"1.50"} {"a":"Red"}`},
		{"mixed", []answer.Cell{integer(1), words("x"), object(0x7f10)}, "1 x 7f10", `{"a":"1"} {"a":"x"} {"a":"7f10"}`},
		{"nothing", []answer.Cell{none, missing}, " ", `{} {}`},
	} {
		var rows [][]answer.Cell
		for _, cell := range c.cells {
			rows = append(rows, []answer.Cell{cell})
		}
		q := queryOf(rows, []string{"a"})
		csv, err := writtenQuery(t, q, tables.Options{Form: tables.CSV})
		require.NoError(t, err, c.name)
		assert.Equal(t, "a\n"+strings.ReplaceAll(c.csv, " ", "\n")+"\n", csv, c.name)
		json, err := writtenQuery(t, q, tables.Options{Form: tables.NDJSON})
		require.NoError(t, err, c.name)
		assert.Equal(t, strings.ReplaceAll(c.json, " ", "\n")+"\n", json, c.name)
	}
}

// TestQueryParquet reads a table of two kinds of columns back.
func TestQueryParquet(t *testing.T) {
	var b bytes.Buffer
	n, err := tables.WriteQuery(&b, queryOf([][]answer.Cell{{integer(7), words("x")}, {none, words("secret")}}, []string{"n", "count(distinct a, b)"}),
		tables.Options{Form: tables.Parquet, Mask: func(s string) string { return strings.ReplaceAll(s, "secret", "***") }})
	require.NoError(t, err)
	assert.EqualValues(t, 2, n)
	r, err := parquetfile.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	assert.EqualValues(t, 2, r.Rows())
	require.Len(t, r.Columns(), 2)
	assert.Equal(t, "count(distinct a, b)", r.Columns()[0].Name, "columns are sorted by name")
	assert.Equal(t, parquetfile.Text, r.Columns()[0].Type)
	assert.Equal(t, parquetfile.Int, r.Columns()[1].Type)
	assert.Contains(t, b.String(), "***")
	assert.NotContains(t, b.String(), "secret")
}

// TestQueryNames: names of columns are expressions, which CSV and JSON quote.
func TestQueryNames(t *testing.T) {
	q := queryOf([][]answer.Cell{{integer(1), integer(2)}}, []string{"count(distinct a, b)", `a == "x"`})
	csv, err := writtenQuery(t, q, tables.Options{Form: tables.CSV})
	require.NoError(t, err)
	assert.Equal(t, "\"count(distinct a, b)\",\"a == \"\"x\"\"\"\n1,2\n", csv)
	json, err := writtenQuery(t, q, tables.Options{Form: tables.NDJSON})
	require.NoError(t, err)
	assert.Equal(t, `{"count(distinct a, b)":1,"a == \"x\"":2}`+"\n", json)
}

// TestQueryMissing: missing rows are an error beside the rows that there are, and a value of another kind that comes too
// late for its column is one.
func TestQueryMissing(t *testing.T) {
	gap := errors.New("a segment is unreadable")
	got, err := writtenQuery(t, queryOf([][]answer.Cell{{integer(1)}}, []string{"a"}, gap), tables.Options{Form: tables.NDJSON})
	assert.ErrorIs(t, err, gap)
	assert.Equal(t, "{\"a\":1}\n", got)
	got, err = writtenQuery(t, queryOf(nil, []string{"a"}), tables.Options{Form: tables.CSV})
	require.NoError(t, err)
	assert.Equal(t, "a\n", got)
	rows := make([][]answer.Cell, 20_000)
	for i := range rows {
		rows[i] = []answer.Cell{integer(int64(i))}
	}
	got, err = writtenQuery(t, queryOf(rows, []string{"a"}), tables.Options{Form: tables.CSV})
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(got, "\n19999\n"))
	rows[19_000][0] = words("x")
	_, err = writtenQuery(t, queryOf(rows, []string{"a"}), tables.Options{Form: tables.CSV})
	assert.ErrorIs(t, err, target.ErrUnsupported)
	assert.ErrorContains(t, err, "column a has text x after other kinds of values: use text(…)")
}
