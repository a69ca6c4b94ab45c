// Package exportread reads exported files back in tests: Parquet files and pprof profiles, as far
// as this module writes them. The module in .ci/readers reads the same files with other libraries.
package exportread

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// A Parquet is the content of a Parquet file.
type Parquet struct {
	Columns []ParquetColumn
	Rows    []map[string]string // values as text by column, without nulls
	Groups  int
}

// A ParquetColumn is a column of the schema with its metadata.
type ParquetColumn struct {
	Name      string
	Type      string // "uint", "int", "text", "bool" or "double"
	Optional  bool
	Encodings []int64 // of the data pages of all groups
	Nulls     int64   // from the statistics
	// Least and Greatest are the statistics of each group, PLAIN-encoded; nil for a group of nulls.
	Least, Greatest [][]byte
}

// ReadParquet reads a file.
func ReadParquet(t testing.TB, b []byte) *Parquet {
	t.Helper()
	require.Greater(t, len(b), 12)
	require.Equal(t, "PAR1", string(b[:4]))
	require.Equal(t, "PAR1", string(b[len(b)-4:]))
	length := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	meta := thriftStruct(t, b[len(b)-8-length:len(b)-8])
	out := &Parquet{}
	for _, e := range meta.list(2)[1:] {
		c := ParquetColumn{Name: string(e.bytes(4)), Optional: e.int(3) == 1}
		switch e.int(1) {
		case 0:
			c.Type = "bool"
		case 2:
			c.Type = "uint"
			if e.at(10).at(10).int(2) == 1 {
				c.Type = "int"
			}
		case 5:
			c.Type = "double"
		case 6:
			c.Type = "text"
			require.NotNil(t, e.at(10)[1], "the logical type STRING")
		}
		out.Columns = append(out.Columns, c)
	}
	for _, g := range meta.list(4) {
		out.Groups++
		first, rows := len(out.Rows), int(g.int(3))
		for range rows {
			out.Rows = append(out.Rows, map[string]string{})
		}
		for i, chunk := range g.list(1) {
			readChunk(t, b, chunk.at(3), &out.Columns[i], out.Rows[first:])
		}
	}
	require.EqualValues(t, meta.int(3), len(out.Rows))
	return out
}

// readChunk reads the values of a column in a row group.
func readChunk(t testing.TB, b []byte, meta structure, c *ParquetColumn, rows []map[string]string) {
	stats := meta.at(12)
	c.Nulls += stats.int(3)
	c.Least, c.Greatest = append(c.Least, stats.bytes(6)), append(c.Greatest, stats.bytes(5))
	at := int(meta.int(9))
	if d := int(meta.int(11)); d > 0 {
		at = d
	}
	end := at + int(meta.int(7))
	var dictionary []uint64
	row := 0
	for at < end {
		r := &thriftReader{t: t, b: b[at:]}
		header := r.structure()
		at += len(b[at:]) - len(r.b)
		body := b[at : at+int(header.int(3))]
		at += len(body)
		if header.int(1) == 2 { // DICTIONARY_PAGE
			dictionary = plainNumbers(unpack(t, body))
			continue
		}
		require.EqualValues(t, 3, header.int(1), "DATA_PAGE_V2")
		h := header.at(8)
		n, levels := int(h.int(1)), int(h.int(5))
		data := unpack(t, body[levels:])
		require.EqualValues(t, header.int(2), levels+len(data))
		known := make([]uint64, n)
		if c.Optional {
			known = hybrid(t, body[:levels], 1, n)
		} else {
			for i := range known {
				known[i] = 1
			}
		}
		c.Encodings = append(c.Encodings, h.int(4))
		values := pageValues(t, c, h.int(4), data, dictionary, n-int(h.int(2)))
		for i := range n {
			if known[i] == 1 {
				rows[row+i][c.Name], values = values[0], values[1:]
			}
		}
		require.Empty(t, values)
		row += n
	}
	require.Equal(t, end, at)
	require.EqualValues(t, meta.int(5), row)
}

func unpack(t testing.TB, b []byte) []byte {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	require.NoError(t, err)
	defer z.Close()
	out, err := z.DecodeAll(b, nil)
	require.NoError(t, err)
	return out
}

func plainNumbers(b []byte) (out []uint64) {
	for ; len(b) > 0; b = b[8:] {
		out = append(out, binary.LittleEndian.Uint64(b))
	}
	return out
}

// pageValues decodes n values as text.
func pageValues(t testing.TB, c *ParquetColumn, encoding int64, b []byte, dictionary []uint64, n int) (out []string) {
	if c.Type == "text" {
		for range n {
			length := binary.LittleEndian.Uint32(b)
			out, b = append(out, string(b[4:4+length])), b[4+length:]
		}
		require.Empty(t, b)
		return out
	}
	var numbers []uint64
	switch {
	case c.Type == "bool":
		numbers = unpackBits(b, 1, n)
	case encoding == 0:
		numbers = plainNumbers(b)
	case encoding == 5:
		numbers = delta(t, b)
	case encoding == 8:
		for _, i := range hybrid(t, b[1:], int(b[0]), n) {
			numbers = append(numbers, dictionary[i])
		}
	}
	require.Len(t, numbers, n)
	for _, v := range numbers {
		switch c.Type {
		case "bool":
			out = append(out, strconv.FormatBool(v == 1))
		case "int":
			out = append(out, strconv.FormatInt(int64(v), 10))
		case "double":
			out = append(out, strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64))
		default:
			out = append(out, strconv.FormatUint(v, 10))
		}
	}
	return out
}

func unpackBits(b []byte, width, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		for k := range width {
			bit := i*width + k
			out[i] |= uint64(b[bit/8]>>(bit%8)&1) << k
		}
	}
	return out
}

// hybrid decodes RLE runs and bit-packed runs.
func hybrid(t testing.TB, b []byte, width, n int) (out []uint64) {
	for len(out) < n {
		head, size := binary.Uvarint(b)
		require.Positive(t, size)
		b = b[size:]
		if head&1 == 1 {
			bytes := int(head>>1) * width
			out, b = append(out, unpackBits(b[:bytes], width, int(head>>1)*8)...), b[bytes:]
			continue
		}
		v, bytes := uint64(0), (width+7)/8
		for i := range bytes {
			v |= uint64(b[i]) << (8 * i)
		}
		b = b[bytes:]
		for range head >> 1 {
			out = append(out, v)
		}
	}
	require.Empty(t, b)
	require.Less(t, len(out)-n, 8)
	return out[:n]
}

// delta decodes DELTA_BINARY_PACKED.
func delta(t testing.TB, b []byte) (out []uint64) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		require.Positive(t, n)
		b = b[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b)
		require.Positive(t, n)
		b = b[n:]
		return v
	}
	block, minis, total := int(next()), int(next()), int(next())
	last := uint64(signed())
	if total == 0 {
		return nil
	}
	out = append(out, last)
	for len(out) < total {
		least := uint64(signed())
		widths := b[:minis]
		b = b[minis:]
		for _, w := range widths {
			if len(out) == total {
				break
			}
			size := int(w) * (block / minis) / 8
			for _, d := range unpackBits(b[:size], int(w), block/minis) {
				if len(out) < total {
					last += d + least
					out = append(out, last)
				}
			}
			b = b[size:]
		}
	}
	require.Empty(t, b)
	return out
}

// A structure is a Thrift structure: values by the ids of fields. Booleans are 0 and 1.
type structure map[int]any

func (s structure) int(id int) int64 {
	n, _ := s[id].(int64)
	return n
}

func (s structure) bytes(id int) []byte {
	b, _ := s[id].([]byte)
	return b
}

func (s structure) at(id int) structure {
	x, _ := s[id].(structure)
	return x
}

func (s structure) list(id int) (out []structure) {
	items, _ := s[id].([]any)
	for _, x := range items {
		out = append(out, x.(structure))
	}
	return out
}

func thriftStruct(t testing.TB, b []byte) structure {
	r := &thriftReader{t: t, b: b}
	out := r.structure()
	require.Empty(t, r.b)
	return out
}

// A thriftReader reads the compact protocol.
type thriftReader struct {
	t testing.TB
	b []byte
}

func (r *thriftReader) byte() byte {
	require.NotEmpty(r.t, r.b)
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	require.Positive(r.t, n)
	r.b = r.b[n:]
	return v
}

func (r *thriftReader) structure() structure {
	out, id := structure{}, 0
	for {
		head := r.byte()
		if head == 0 {
			return out
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			id = int(r.varint())
		}
		switch typ := head & 15; typ {
		case 1, 2:
			out[id] = int64(2 - typ)
		default:
			out[id] = r.value(typ)
		}
	}
}

func (r *thriftReader) varint() int64 {
	v, n := binary.Varint(r.b)
	require.Positive(r.t, n)
	r.b = r.b[n:]
	return v
}

func (r *thriftReader) value(typ byte) any {
	switch typ {
	case 1, 2, 3: // an item of a list, or a byte
		return int64(r.byte())
	case 4, 5, 6:
		return r.varint()
	case 8:
		n := int(r.uvarint())
		require.LessOrEqual(r.t, n, len(r.b))
		v := r.b[:n:n]
		r.b = r.b[n:]
		return v
	case 9:
		head := r.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = r.uvarint()
		}
		items := []any{}
		for range n {
			items = append(items, r.value(head&15))
		}
		return items
	case 12:
		return r.structure()
	}
	require.Fail(r.t, fmt.Sprint("a Thrift type that is not expected: ", typ))
	return nil
}
