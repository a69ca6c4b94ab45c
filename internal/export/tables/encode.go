package tables

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sosgo/sosgo/internal/encoding/jsonenc"
	"github.com/sosgo/sosgo/internal/encoding/utf16text"
	"github.com/sosgo/sosgo/internal/export/internal/parquetfile"
	"github.com/sosgo/sosgo/target"
)

// An encoder writes batches in one format. encode may be called by several goroutines, take and close by one,
// in order.
type encoder interface {
	encode(b *Batch, reuse part) (part, error)
	take(p part) error
	close() error
}

// A part is an encoded batch.
type part struct {
	rows  uint64
	text  []byte
	group *parquetfile.Group
}

func newEncoder(o Options, t *Table, w io.Writer) (encoder, error) {
	switch o.Form {
	case Parquet:
		return newParquet(t, w), nil
	case CSV:
		e := &textEncoder{w: bufio.NewWriterSize(w, 1<<20), row: appendCSV}
		if o.RawCSV {
			e.row = appendRawCSV
		}
		return e, e.head(t)
	case NDJSON:
		for i := range t.Columns {
			t.names = append(t.names, jsonenc.AppendString(nil, t.Columns[i].Name))
		}
		return &textEncoder{w: bufio.NewWriterSize(w, 1<<20), row: appendJSON}, nil
	}
	return nil, target.Argumentf("there is no form %q of tables", string(o.Form))
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
		line = appendQuoted(line, []byte(t.Columns[i].Name))
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

func appendCSV(dst []byte, b *Batch, r int) []byte { return appendCells(dst, b, r, inert) }

func appendRawCSV(dst []byte, b *Batch, r int) []byte {
	return appendCells(dst, b, r, func(text []byte) []byte { return text })
}

// inert returns text that spreadsheets show and do not run. It puts an apostrophe before text that they would
// run, or that starts with an apostrophe. Spreadsheets skip spaces, and accept the wide forms of signs listed
// by OWASP (CSV injection).
func inert(text []byte) []byte {
	const starts = "=+-@\t\r\n'\uff1d\uff0b\uff0d\uff20"
	first, _ := utf8.DecodeRune(bytes.TrimLeft(text, " "))
	if first == utf8.RuneError || !strings.ContainsRune(starts, first) {
		return text
	}
	return append([]byte{'\''}, text...)
}

// appendCells appends a row in the form of RFC 4180, with texts passed through shown.
func appendCells(dst []byte, b *Batch, r int, shown func(text []byte) []byte) []byte {
	for i := range b.cols {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch c := &b.cols[i]; {
		case isNull(c, r):
		case b.t.Columns[i].Kind == Text:
			dst = appendQuoted(dst, shown(c.At(r)))
		default:
			dst = appendNumber(dst, b.t.Columns[i].Kind, c.Numbers[r])
		}
	}
	return dst
}

// appendQuoted appends text as UTF-8, in quotes if it needs them. An empty text is quoted, because it is not
// null.
func appendQuoted(dst, text []byte) []byte {
	if !utf8.Valid(text) {
		text = []byte(utf16text.Valid(string(text)))
	}
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

// appendJSON appends a row as an object without nulls.
func appendJSON(dst []byte, b *Batch, r int) []byte {
	first := byte('{')
	for i := range b.cols {
		c := &b.cols[i]
		if isNull(c, r) {
			continue
		}
		dst = append(dst, first)
		first = ','
		dst = append(append(dst, b.t.names[i]...), ':')
		switch kind := b.t.Columns[i].Kind; kind {
		case Text:
			dst = jsonenc.AppendString(dst, string(c.At(r)))
		case Address:
			dst = append(appendNumber(append(dst, '"'), Address, c.Numbers[r]), '"')
		default:
			from := len(dst)
			dst = appendNumber(dst, kind, c.Numbers[r])
			if kind == Float && !isFinite(c.Numbers[r]) {
				dst = jsonenc.AppendString(dst[:from], string(dst[from:]))
			}
		}
	}
	if first == '{' {
		dst = append(dst, '{')
	}
	return append(dst, '}')
}

// isFinite reports whether a float is a number of JSON.
func isFinite(bits uint64) bool {
	f := math.Float64frombits(bits)
	return !math.IsNaN(f) && !math.IsInf(f, 0)
}

func appendNumber(dst []byte, k Kind, v uint64) []byte {
	switch k {
	case Bool:
		return strconv.AppendBool(dst, v != 0)
	case Int:
		return strconv.AppendInt(dst, int64(v), 10)
	case Address:
		return strconv.AppendUint(append(dst, "0x"...), v, 16)
	case Float:
		return strconv.AppendFloat(dst, math.Float64frombits(v), 'g', -1, 64)
	}
	return strconv.AppendUint(dst, v, 10)
}

// A parquetEncoder writes a row group for each batch.
type parquetEncoder struct{ w *parquetfile.Writer }

func newParquet(t *Table, w io.Writer) *parquetEncoder {
	columns := make([]parquetfile.Column, len(t.Columns))
	for i := range columns {
		c := &t.Columns[i]
		columns[i] = parquetfile.Column{Name: c.Name, Type: parquetTypes[c.Kind], Optional: c.Null}
		switch {
		case c.rising:
			columns[i].Encoding = parquetfile.Delta
		case c.few:
			columns[i].Encoding = parquetfile.Dictionary
		}
	}
	return &parquetEncoder{parquetfile.NewWriter(w, t.Name, columns)}
}

var parquetTypes = [...]parquetfile.Type{Uint: parquetfile.Uint, Int: parquetfile.Int, Text: parquetfile.Text, Bool: parquetfile.Bool, Float: parquetfile.Double, Address: parquetfile.Uint}

func (e *parquetEncoder) encode(b *Batch, _ part) (part, error) {
	g, err := e.w.EncodeGroup(b.n, b.cols)
	return part{rows: uint64(b.n), group: g}, err
}

func (e *parquetEncoder) take(p part) error { return e.w.Write(p.group) }

func (e *parquetEncoder) close() error { return e.w.Close() }
