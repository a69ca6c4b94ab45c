package tables

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/sosgo/sosgo/internal/report"
	"github.com/sosgo/sosgo/target"
)

// An encoder writes batches in one form. encode is for several goroutines, take and close for one, in order.
type encoder interface {
	encode(b *Batch, reuse part) (part, error)
	take(p part) error
	close() error
}

// A part is what was made of a batch.
type part struct {
	rows  uint64
	text  []byte
	group *parquet.ConcurrentRowGroupWriter
}

func newEncoder(f Form, t *Table, w io.Writer) (encoder, error) {
	switch f {
	case Parquet:
		return newParquet(t, w), nil
	case CSV:
		e := &textEncoder{w: bufio.NewWriterSize(w, 1<<20), row: appendCSV}
		return e, e.head(t)
	case NDJSON:
		return &textEncoder{w: bufio.NewWriterSize(w, 1<<20), row: appendJSON}, nil
	}
	return nil, target.Unsupportedf("there is no form %q of tables", string(f))
}

// A textEncoder writes rows as lines.
type textEncoder struct {
	w   *bufio.Writer
	row func(dst []byte, b *Batch, r int) []byte
}

func (e *textEncoder) head(t *Table) error {
	var line []byte
	for i := range t.Columns {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, t.Columns[i].Name...)
	}
	_, err := e.w.Write(append(line, '\n'))
	return err
}

func (e *textEncoder) encode(b *Batch, reuse part) (part, error) {
	out := part{rows: uint64(b.n), text: reuse.text[:0]}
	for r := range b.n {
		out.text = append(e.row(out.text, b, r), '\n')
	}
	return out, nil
}

func (e *textEncoder) take(p part) error {
	_, err := e.w.Write(p.text)
	return err
}

func (e *textEncoder) close() error { return e.w.Flush() }

// appendCSV appends a row as RFC 4180 has it.
func appendCSV(dst []byte, b *Batch, r int) []byte {
	for i := range b.cols {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch c := &b.cols[i]; {
		case c.isNull(r):
		case b.t.Columns[i].Kind == Text:
			dst = appendQuoted(dst, c.at(r))
		default:
			dst = appendNumber(dst, b.t.Columns[i].Kind, c.num[r])
		}
	}
	return dst
}

// appendQuoted appends text with quotes around it where it needs them: where it is empty, too, for that is not null.
func appendQuoted(dst, text []byte) []byte {
	if len(text) > 0 && !bytes.ContainsAny(text, "\",\r\n") && text[0] != ' ' && text[len(text)-1] != ' ' {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for _, c := range text {
		if c == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// appendJSON appends a row as an object, without what is null.
func appendJSON(dst []byte, b *Batch, r int) []byte {
	first := byte('{')
	for i := range b.cols {
		c := &b.cols[i]
		if c.isNull(r) {
			continue
		}
		dst = append(dst, first, '"')
		first = ','
		dst = append(dst, b.t.Columns[i].Name...)
		dst = append(dst, '"', ':')
		if b.t.Columns[i].Kind == Text {
			dst = report.AppendJSONString(dst, string(c.at(r)))
		} else {
			dst = appendNumber(dst, b.t.Columns[i].Kind, c.num[r])
		}
	}
	if first == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

func appendNumber(dst []byte, k Kind, v uint64) []byte {
	switch k {
	case Bool:
		return strconv.AppendBool(dst, v != 0)
	case Int:
		return strconv.AppendInt(dst, int64(v), 10)
	case Float:
		return strconv.AppendFloat(dst, math.Float64frombits(v), 'g', -1, 64)
	}
	return strconv.AppendUint(dst, v, 10)
}

// A parquetEncoder writes a row group for each batch.
type parquetEncoder struct {
	w       *parquet.GenericWriter[any]
	columns []int // by column of the table: its index in the schema, which is in the order of names
}

// codec is fast, and a third larger than the best.
var codec = &zstd.Codec{Level: zstd.SpeedFastest}

func newParquet(t *Table, w io.Writer) *parquetEncoder {
	group := parquet.Group{}
	for i := range t.Columns {
		group[t.Columns[i].Name] = t.Columns[i].node()
	}
	schema := parquet.NewSchema(t.Name, group)
	e := &parquetEncoder{w: parquet.NewGenericWriter[any](w, schema, parquet.CreatedBy("sosgo", "1", ""), parquet.DataPageStatistics(true))}
	for i := range t.Columns {
		leaf, _ := schema.Lookup(t.Columns[i].Name) // it was put there
		e.columns = append(e.columns, leaf.ColumnIndex)
	}
	return e
}

// node is the column in a schema.
func (c *Column) node() parquet.Node {
	var n parquet.Node
	switch c.Kind {
	case Uint:
		n = parquet.Uint(64)
	case Int:
		n = parquet.Int(64)
	case Text:
		n = parquet.String()
	case Bool:
		n = parquet.Leaf(parquet.BooleanType)
	case Float:
		n = parquet.Leaf(parquet.DoubleType)
	}
	switch {
	case c.rising:
		n = parquet.Encoded(n, &parquet.DeltaBinaryPacked)
	case c.few:
		n = parquet.Encoded(n, &parquet.RLEDictionary)
	}
	n = parquet.Compressed(n, codec)
	if c.Null {
		n = parquet.Optional(n)
	}
	return n
}

// parquetRows is how many values are handed over at once.
const parquetRows = 1 << 10

func (e *parquetEncoder) encode(b *Batch, _ part) (part, error) {
	out := part{rows: uint64(b.n), group: e.w.BeginRowGroup()}
	writers := out.group.ColumnWriters()
	values := make([]parquet.Value, 0, parquetRows)
	for i := range b.cols {
		w := writers[e.columns[i]]
		for from := 0; from < b.n; from += parquetRows {
			values = b.appendValues(values[:0], i, from, min(from+parquetRows, b.n), e.columns[i])
			if _, err := w.WriteRowValues(values); err != nil {
				return out, err
			}
		}
		if err := w.Flush(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// appendValues appends the values of column i from row from up to row to. Only those that may be null need to know their level
// and their column; numbers without null, which are most, are fast.
func (b *Batch) appendValues(dst []parquet.Value, i, from, to, at int) []parquet.Value {
	c, kind := &b.cols[i], b.t.Columns[i].Kind
	if len(c.null) == 0 && (kind == Uint || kind == Int) {
		for _, v := range c.num[from:to] {
			dst = append(dst, parquet.Int64Value(int64(v)))
		}
		return dst
	}
	for r := from; r < to; r++ {
		switch {
		case len(c.null) == 0:
			dst = append(dst, c.value(kind, r))
		case c.null[r]:
			dst = append(dst, parquet.NullValue().Level(0, 0, at))
		default:
			dst = append(dst, c.value(kind, r).Level(0, 1, at))
		}
	}
	return dst
}

// value is row r of a column, which is not null.
func (c *cells) value(k Kind, r int) parquet.Value {
	switch k {
	case Text:
		text := c.at(r)
		if !utf8.Valid(text) {
			text = bytes.ToValidUTF8(text, []byte("\ufffd"))
		}
		return parquet.ByteArrayValue(text)
	case Bool:
		return parquet.BooleanValue(c.num[r] != 0)
	case Float:
		return parquet.DoubleValue(math.Float64frombits(c.num[r]))
	}
	return parquet.Int64Value(int64(c.num[r]))
}

func (e *parquetEncoder) take(p part) error {
	_, err := p.group.Commit()
	return err
}

func (e *parquetEncoder) close() error { return e.w.Close() }
