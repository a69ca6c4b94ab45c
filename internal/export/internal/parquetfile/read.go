package parquetfile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/sosgo/sosgo/target"
)

// Limits of a file to read.
const (
	mostFooter = 64 << 20
	mostRows   = 1 << 18 // rows of a row group
	mostPage   = 1 << 28 // bytes of a page, unpacked
	mostDepth  = 16      // depth of nested structures
)

// A Reader reads the files of a Writer: flat columns of the Types in pages of version 2, plain, compressed with
// zstd. Other files are target.ErrUnsupported, and damaged ones target.ErrCorrupt.
type Reader struct {
	r       io.ReaderAt
	size    int64
	columns []Column
	groups  []readGroup
	zstd    *zstd.Decoder
}

type readGroup struct {
	rows   int
	chunks []readChunk // of columns
}

type readChunk struct{ from, size int64 }

// NewReader reads the end of a file with the given size.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	var end [8]byte
	if size < int64(len(magic)+len(end)) {
		return nil, target.Corruptf("a Parquet file of %d bytes", size)
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[4:]) != magic || n > min(size-8-int64(len(magic)), mostFooter) {
		return nil, target.Corruptf("the end of a Parquet file")
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-8-n); err != nil {
		return nil, err
	}
	t := thriftReader{b: footer}
	meta, err := t.fields(0)
	if err != nil {
		return nil, err
	}
	out := &Reader{r: r, size: size - 8 - n}
	if err := out.schema(meta[2].list); err != nil {
		return nil, err
	}
	for i := range meta[4].list {
		if err := out.group(meta[4].list[i].fields); err != nil {
			return nil, err
		}
	}
	out.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostPage))
	return out, err
}

// Columns returns the columns of the file.
func (r *Reader) Columns() []Column { return r.columns }

// Groups returns the number of row groups.
func (r *Reader) Groups() int { return len(r.groups) }

// Rows returns the number of rows.
func (r *Reader) Rows() (n uint64) {
	for i := range r.groups {
		n += uint64(r.groups[i].rows)
	}
	return n
}

// schema reads the columns.
func (r *Reader) schema(list []thriftValue) error {
	if len(list) < 2 || list[0].fields[5].n != int64(len(list)-1) {
		return target.Unsupportedf("a Parquet file without flat columns")
	}
	for _, e := range list[1:] {
		c := Column{Name: string(e.fields[4].b), Optional: e.fields[3].n == 1}
		const utf8, uint64Type, int64Type = 0, 14, 18
		converted, known := e.fields[6]
		switch physical := e.fields[1].n; {
		case e.fields[3].n > 1:
			return target.Unsupportedf("the repeated column %q", c.Name)
		case physical == physicalBoolean:
			c.Type = Bool
		case physical == physicalDouble:
			c.Type = Double
		case physical == physicalByteArray && known && converted.n == utf8:
			c.Type = Text
		case physical == physicalInt64 && known && converted.n == uint64Type:
			c.Type = Uint
		case physical == physicalInt64 && known && converted.n == int64Type:
			c.Type = Int
		default:
			return target.Unsupportedf("the type of the column %q", c.Name)
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

// group locates the chunks of a row group.
func (r *Reader) group(g map[int]thriftValue) error {
	out := readGroup{rows: int(g[3].n)}
	if g[3].n < 0 || g[3].n > mostRows || len(g[1].list) != len(r.columns) {
		return target.Corruptf("a row group of %d rows and %d columns", g[3].n, len(g[1].list))
	}
	for i, c := range g[1].list {
		m := c.fields[3].fields
		from, size := m[9].n, m[7].n
		if _, dictionary := m[11]; dictionary || m[4].n != codecZstd {
			return target.Unsupportedf("the encoding of the column %q", r.columns[i].Name)
		}
		if from < 0 || size < 0 || from > r.size || size > r.size-from {
			return target.Corruptf("the column %q lies outside the file", r.columns[i].Name)
		}
		out.chunks = append(out.chunks, readChunk{from, size})
	}
	r.groups = append(r.groups, out)
	return nil
}

// Read appends the rows of a row group to columns, in the order of Columns. It adds no nulls to a column that
// is not Optional.
func (r *Reader) Read(group int, columns []Values) error {
	g := &r.groups[group]
	for i := range columns {
		if err := r.chunk(&g.chunks[i], &r.columns[i], g.rows, &columns[i]); err != nil {
			return fmt.Errorf("column %s: %w", r.columns[i].Name, err)
		}
	}
	return nil
}

func (r *Reader) chunk(c *readChunk, col *Column, rows int, v *Values) error {
	raw := make([]byte, c.size)
	if _, err := r.r.ReadAt(raw, c.from); err != nil {
		return err
	}
	for rows > 0 {
		t := thriftReader{b: raw}
		h, err := t.fields(0)
		if err != nil {
			return err
		}
		data := h[8].fields
		n, nulls, packed, levels := data[1].n, data[2].n, h[3].n, data[5].n
		switch {
		case h[1].n != 3 || data[4].n != int64(Plain):
			return target.Unsupportedf("pages of another encoding")
		case n <= 0 || n > int64(rows) || nulls < 0 || nulls > n || packed < 0 || packed > int64(len(t.b)) || levels < 0 || levels > packed || data[6].n != 0 || h[2].n > mostPage:
			return target.Corruptf("the header of a page")
		}
		page := t.b[:packed]
		raw = t.b[packed:]
		null, err := readLevels(page[:levels], int(n), col.Optional)
		if err != nil {
			return err
		}
		values := page[levels:]
		if compressed, known := data[7]; !known || compressed.n != 0 {
			if values, err = r.zstd.DecodeAll(values, nil); err != nil {
				return target.Corruptf("a page: %v", err)
			}
		}
		if err := v.decode(values, col.Type, int(n), null); err != nil {
			return err
		}
		if col.Optional {
			v.Null = append(v.Null, null...)
		}
		rows -= int(n)
	}
	return nil
}

// readLevels returns which of n values are null.
func readLevels(b []byte, n int, optional bool) ([]bool, error) {
	null := make([]bool, n)
	if !optional {
		return null, nil
	}
	for at := 0; at < n; {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, target.Corruptf("the levels of a page")
		}
		b = b[k:]
		count := head >> 1
		if head&1 == 1 { // groups of bits
			if count > uint64(len(b)) {
				return nil, target.Corruptf("the levels of a page")
			}
			for i := range min(int(count)*groupValues, n-at) {
				null[at+i] = b[i/8]>>(i%8)&1 == 0
			}
			b = b[count:]
			count *= groupValues
		} else {
			if len(b) == 0 || count == 0 {
				return nil, target.Corruptf("the levels of a page")
			}
			for i := range min(count, uint64(n-at)) {
				null[at+int(i)] = b[0] == 0
			}
			b = b[1:]
		}
		at += int(min(count, uint64(n-at)))
	}
	return null, nil
}

// decode appends plain values.
func (v *Values) decode(b []byte, t Type, n int, null []bool) error {
	short := func() error { return target.Corruptf("a page has fewer values than rows") }
	bit := 0
	for i := range n {
		var number uint64
		switch {
		case null[i]:
		case t == Text:
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return short()
			}
			size := binary.LittleEndian.Uint32(b)
			v.Text = append(v.Text, b[4:4+size]...)
			b = b[4+size:]
		case t == Bool:
			if bit/8 >= len(b) {
				return short()
			}
			number = uint64(b[bit/8] >> (bit % 8) & 1)
			bit++
		default:
			if len(b) < 8 {
				return short()
			}
			number = binary.LittleEndian.Uint64(b)
			b = b[8:]
		}
		if t == Text {
			number = uint64(len(v.Text))
		}
		v.Numbers = append(v.Numbers, number)
	}
	return nil
}

// A thriftValue is a value of the compact protocol: a number, bytes, a list, or a structure.
type thriftValue struct {
	n      int64
	b      []byte
	list   []thriftValue
	fields map[int]thriftValue
}

// A thriftReader reads structures.
type thriftReader struct{ b []byte }

var errThrift = target.Corruptf("the metadata of a Parquet file")

func (t *thriftReader) byte() (byte, error) {
	if len(t.b) == 0 {
		return 0, errThrift
	}
	c := t.b[0]
	t.b = t.b[1:]
	return c, nil
}

func (t *thriftReader) uvarint() (uint64, error) {
	v, n := binary.Uvarint(t.b)
	if n <= 0 {
		return 0, errThrift
	}
	t.b = t.b[n:]
	return v, nil
}

func (t *thriftReader) varint() (int64, error) {
	v, err := t.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

// fields reads a structure by the ids of its fields.
func (t *thriftReader) fields(depth int) (map[int]thriftValue, error) {
	out := map[int]thriftValue{}
	for id := 0; ; {
		head, err := t.byte()
		if err != nil || head == 0 {
			return out, err
		}
		if delta := int(head >> 4); delta > 0 {
			id += delta
		} else {
			n, err := t.varint()
			if err != nil {
				return nil, err
			}
			id = int(int16(n))
		}
		v, err := t.value(int(head&15), depth+1, false)
		if err != nil {
			return nil, err
		}
		out[id] = v
	}
}

func (t *thriftReader) value(typ, depth int, element bool) (v thriftValue, err error) {
	if depth > mostDepth {
		return v, errThrift
	}
	switch typ {
	case thriftTrue, thriftFalse:
		if element {
			c, err := t.byte()
			return thriftValue{n: int64(c & 1)}, err
		}
		v.n = int64(thriftFalse - typ)
	case thriftByte:
		c, err := t.byte()
		return thriftValue{n: int64(int8(c))}, err
	case thriftI16, thriftI32, thriftI64:
		v.n, err = t.varint()
	case thriftBinary:
		n, err := t.uvarint()
		if err != nil || n > uint64(len(t.b)) {
			return v, errThrift
		}
		v.b, t.b = t.b[:n], t.b[n:]
	case thriftList:
		head, err := t.byte()
		if err != nil {
			return v, err
		}
		n := uint64(head >> 4)
		if n == 15 {
			if n, err = t.uvarint(); err != nil {
				return v, err
			}
		}
		if n > uint64(len(t.b)) { // an element takes at least a byte
			return v, errThrift
		}
		for range n {
			e, err := t.value(int(head&15), depth+1, true)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, e)
		}
	case thriftStruct:
		v.fields, err = t.fields(depth)
	default:
		return v, target.Unsupportedf("the metadata of a Parquet file has a value of type %d", typ)
	}
	return v, err
}
