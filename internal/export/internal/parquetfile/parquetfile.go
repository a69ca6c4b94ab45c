// Package parquetfile writes tables as Apache Parquet files (https://github.com/apache/parquet-format, version
// 2.11), and reads the files that it writes. It covers flat schemas, pages of version 2 compressed with zstd,
// statistics and the page index. It does not cover other parts of the format.
//
// Start at NewWriter. EncodeGroup encodes a row group, on any number of goroutines; Write then writes the
// groups in order. The bytes of a file depend only on its rows.
package parquetfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Type is the type of a column: a physical type and a logical one.
type Type uint8

// The types.
const (
	Uint   Type = iota // INT64, INTEGER(64, false)
	Int                // INT64, INTEGER(64, true)
	Text               // BYTE_ARRAY, STRING
	Bool               // BOOLEAN
	Double             // DOUBLE
)

// An Encoding is the format of a column's values. Columns of type Text, Bool and Double are always Plain.
type Encoding uint8

// The encodings, with their numbers in the format.
const (
	Plain      Encoding = 0 // PLAIN
	Delta      Encoding = 5 // DELTA_BINARY_PACKED
	Dictionary Encoding = 8 // RLE_DICTIONARY, or Plain for a row group with too many distinct values

	encodingRLE = 3 // encoding of levels
)

// A Column describes a column.
type Column struct {
	Name     string
	Type     Type
	Encoding Encoding
	Optional bool // values may be null
}

// Values holds the values of a column, one for each row.
type Values struct {
	Numbers []uint64 // bits of a number; for Text, the end of the value in Text
	Text    []byte   // UTF-8, without separators
	Null    []bool   // empty unless the column is Optional
}

// At returns the text of row r.
func (v *Values) At(r int) []byte {
	from := uint64(0)
	if r > 0 {
		from = v.Numbers[r-1]
	}
	return v.Text[from:v.Numbers[r]]
}

// A Writer writes a file.
type Writer struct {
	w       io.Writer
	name    string
	columns []Column
	order   []int // columns in the order of the schema, sorted by name
	offset  int64
	groups  []*Group
	zstd    func() (*zstd.Encoder, error)
}

// NewWriter returns a Writer for a file with a schema of that name.
func NewWriter(w io.Writer, name string, columns []Column) *Writer {
	out := &Writer{w: w, name: name, columns: columns, order: make([]int, len(columns))}
	for i := range out.order {
		out.order[i] = i
	}
	slices.SortStableFunc(out.order, func(a, b int) int { return strings.Compare(columns[a].Name, columns[b].Name) })
	out.zstd = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true),
			zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)))
	})
	return out
}

// A Group is an encoded row group.
type Group struct {
	rows   int
	bytes  []byte  // of all chunks; nil once written
	chunks []chunk // in the order of the schema
	offset int64   // in the file
}

// A chunk holds the values of one column in a row group. Offsets are relative to the group.
type chunk struct {
	column         *Column
	dictionary     int // offset of the dictionary page, or -1
	data           int // offset of the first data page
	end            int
	uncompressed   int // size of all pages with their headers before compression
	dictionaryUsed bool
	pages          []page
	stats          statistics
}

type page struct {
	offset, size int // of the header and the data
	firstRow     int
	stats        statistics
}

// pageRows is the number of rows in a data page.
const pageRows = 1 << 15

// EncodeGroup encodes a row group. columns holds the values of the columns of NewWriter for all rows.
func (w *Writer) EncodeGroup(rows int, columns []Values) (*Group, error) {
	z, err := w.zstd()
	if err != nil {
		return nil, err
	}
	e := encoder{zstd: z, rows: rows}
	g := &Group{rows: rows}
	for _, i := range w.order {
		g.chunks = append(g.chunks, e.chunk(&w.columns[i], &columns[i]))
	}
	g.bytes = e.out
	return g, nil
}

// Write writes a row group from EncodeGroup.
func (w *Writer) Write(g *Group) error {
	if err := w.head(); err != nil {
		return err
	}
	g.offset = w.offset
	if err := w.write(g.bytes); err != nil {
		return err
	}
	g.bytes = nil
	w.groups = append(w.groups, g)
	return nil
}

// magic starts and ends a file.
const magic = "PAR1"

func (w *Writer) head() error {
	if w.offset > 0 {
		return nil
	}
	return w.write([]byte(magic))
}

func (w *Writer) write(b []byte) error {
	n, err := w.w.Write(b)
	w.offset += int64(n)
	return err
}

// Close writes the page index and the footer. It does not close the underlying writer.
func (w *Writer) Close() error {
	if err := w.head(); err != nil {
		return err
	}
	tail := w.appendIndexes()
	start := len(tail.b)
	w.footer(tail)
	tail.b = binary.LittleEndian.AppendUint32(tail.b, uint32(len(tail.b)-start))
	return w.write(append(tail.b, magic...))
}

// An encoder encodes the columns of one row group.
type encoder struct {
	zstd *zstd.Encoder
	rows int
	out  []byte
	// Reused buffers.
	raw     []byte
	numbers []uint64
	index   []uint64
	levels  []uint64
	t       thriftWriter
}

func (e *encoder) chunk(c *Column, v *Values) chunk {
	out := chunk{column: c, dictionary: -1, stats: statistics{typ: c.Type}}
	encoding := c.Encoding
	if encoding == Dictionary {
		if e.dictionary(&out, v) {
			out.dictionaryUsed = true
		} else {
			encoding = Plain
		}
	}
	out.data = len(e.out)
	for from := 0; from < e.rows; from += pageRows {
		e.page(&out, v, encoding, from, min(from+pageRows, e.rows))
	}
	out.end = len(e.out)
	return out
}

// dictionary writes the dictionary page of a column, and sets e.index to the index of each value that is not
// null. It returns false if there are too many distinct values.
func (e *encoder) dictionary(c *chunk, v *Values) bool {
	known := map[uint64]uint64{}
	e.raw, e.index = e.raw[:0], e.index[:0]
	for r, n := range v.Numbers {
		if len(v.Null) > 0 && v.Null[r] {
			continue
		}
		i, ok := known[n]
		if !ok {
			if len(known) > e.rows/2 && len(known) > groupValues {
				return false
			}
			i = uint64(len(known))
			known[n] = i
			e.raw = binary.LittleEndian.AppendUint64(e.raw, n)
		}
		e.index = append(e.index, i)
	}
	c.dictionary = len(e.out)
	packed := e.zstd.EncodeAll(e.raw, nil)
	t := &e.t
	*t = thriftWriter{b: t.b[:0]} // PageHeader
	t.i32(1, 2)                   // DICTIONARY_PAGE
	t.i32(2, int32(len(e.raw)))
	t.i32(3, int32(len(packed)))
	t.begin(7)
	t.i32(1, int32(len(known)))
	t.i32(2, int32(Plain))
	t.end()
	t.stop()
	e.out = append(append(e.out, t.b...), packed...)
	c.uncompressed += len(t.b) + len(e.raw)
	return true
}

// page writes a data page of version 2: the definition levels, which are not compressed, and the values.
func (e *encoder) page(c *chunk, v *Values, encoding Encoding, from, to int) {
	p := page{offset: len(e.out), firstRow: from, stats: statistics{typ: c.column.Type}}
	var levels []byte
	if c.column.Optional {
		e.levels = e.levels[:0]
		for r := from; r < to; r++ {
			level := uint64(1)
			if v.Null[r] {
				level = 0
				p.stats.nulls++
			}
			e.levels = append(e.levels, level)
		}
		levels = appendHybrid(nil, e.levels, 1)
	}
	e.values(c, v, encoding, from, to, &p.stats)
	p.stats.leastText, p.stats.greatestText = bytes.Clone(p.stats.leastText), bytes.Clone(p.stats.greatestText) // v belongs to the caller, who reuses it
	packed := e.zstd.EncodeAll(e.raw, nil)
	t := &e.t
	*t = thriftWriter{b: t.b[:0]} // PageHeader
	t.i32(1, 3)                   // DATA_PAGE_V2
	t.i32(2, int32(len(levels)+len(e.raw)))
	t.i32(3, int32(len(levels)+len(packed)))
	t.begin(8)
	t.i32(1, int32(to-from))
	t.i32(2, int32(p.stats.nulls))
	t.i32(3, int32(to-from))
	t.i32(4, int32(encoding))
	t.i32(5, int32(len(levels)))
	t.i32(6, 0)
	t.bool(7, true)
	p.stats.write(t, 8)
	t.end()
	t.stop()
	e.out = append(append(append(e.out, t.b...), levels...), packed...)
	c.uncompressed += len(t.b) + len(levels) + len(e.raw)
	p.size = len(e.out) - p.offset
	c.stats.merge(&p.stats)
	c.pages = append(c.pages, p)
}

// values encodes the values of some rows that are not null in e.raw, and adds them to s.
func (e *encoder) values(c *chunk, v *Values, encoding Encoding, from, to int, s *statistics) {
	e.raw, e.numbers = e.raw[:0], e.numbers[:0]
	for r := from; r < to; r++ {
		if len(v.Null) > 0 && v.Null[r] {
			continue
		}
		if c.column.Type == Text {
			text := s.addText(v.At(r))
			e.raw = append(binary.LittleEndian.AppendUint32(e.raw, uint32(len(text))), text...)
			continue
		}
		s.addNumber(v.Numbers[r])
		e.numbers = append(e.numbers, v.Numbers[r])
	}
	switch {
	case c.column.Type == Text:
	case c.column.Type == Bool:
		e.raw = appendBits(e.raw, e.numbers, 1)
	case encoding == Delta:
		e.raw = appendDelta(e.raw, e.numbers)
	case encoding == Dictionary:
		mine := e.index[:len(e.numbers)]
		e.index = e.index[len(e.numbers):]
		width := bits.Len64(slices.Max(append(mine[:len(mine):len(mine)], 0)))
		e.raw = appendHybrid(append(e.raw, byte(width)), mine, width)
	default:
		for _, n := range e.numbers {
			e.raw = binary.LittleEndian.AppendUint64(e.raw, n)
		}
	}
}
