package parquetfile

// The structures of the end of a file: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.

// Physical types.
const (
	physicalBoolean   = 0
	physicalInt64     = 2
	physicalDouble    = 5
	physicalByteArray = 6
)

func (t Type) physical() int32 {
	switch t {
	case Bool:
		return physicalBoolean
	case Double:
		return physicalDouble
	case Text:
		return physicalByteArray
	}
	return physicalInt64
}

// codecZstd is the codec of all pages.
const codecZstd = 6

// indexes locates the page index of a chunk.
type indexes struct {
	columnOffset, offsetOffset int64
	columnLength, offsetLength int32
}

// A tail follows the row groups.
type tail struct {
	thriftWriter
	indexes [][]indexes // by group and column
}

// appendIndexes appends the ColumnIndex of each chunk, and then the OffsetIndex of each: readers read all of
// one kind at once.
func (w *Writer) appendIndexes() *tail {
	t := &tail{indexes: make([][]indexes, len(w.groups))}
	for i, g := range w.groups {
		t.indexes[i] = make([]indexes, len(g.chunks))
		for k := range g.chunks {
			at, start := &t.indexes[i][k], len(t.b)
			g.chunks[k].columnIndex(&t.thriftWriter)
			at.columnOffset, at.columnLength = w.offset+int64(start), int32(len(t.b)-start)
		}
	}
	for i, g := range w.groups {
		for k := range g.chunks {
			at, start := &t.indexes[i][k], len(t.b)
			g.chunks[k].offsetIndex(&t.thriftWriter, g.offset)
			at.offsetOffset, at.offsetLength = w.offset+int64(start), int32(len(t.b)-start)
		}
	}
	return t
}

func (c *chunk) columnIndex(t *thriftWriter) {
	t.last = 0
	t.list(1, thriftTrue, len(c.pages)) // null_pages
	for i := range c.pages {
		if c.pages[i].stats.known {
			t.b = append(t.b, thriftFalse)
		} else {
			t.b = append(t.b, thriftTrue)
		}
	}
	for id := 2; id <= 3; id++ { // min_values, max_values
		t.list(id, thriftBinary, len(c.pages))
		for i := range c.pages {
			var bounds [2][]byte
			if c.pages[i].stats.known {
				bounds[0], bounds[1] = c.pages[i].stats.bounds()
			}
			t.binaryItem(bounds[id-2])
		}
	}
	t.i32(4, 0) // UNORDERED
	t.list(5, thriftI64, len(c.pages))
	for i := range c.pages {
		t.varint(c.pages[i].stats.nulls)
	}
	t.stop()
}

func (c *chunk) offsetIndex(t *thriftWriter, base int64) {
	t.last = 0
	t.list(1, thriftStruct, len(c.pages))
	for i := range c.pages {
		p := &c.pages[i]
		t.item()
		t.i64(1, base+int64(p.offset))
		t.i32(2, int32(p.size))
		t.i64(3, int64(p.firstRow))
		t.end()
	}
	t.stop()
}

// footer appends FileMetaData.
func (w *Writer) footer(t *tail) {
	t.last = 0
	t.i32(1, 2) // version
	t.list(2, thriftStruct, 1+len(w.columns))
	t.item()
	t.string(4, w.name)
	t.i32(5, int32(len(w.columns)))
	t.end()
	for _, i := range w.order {
		w.columns[i].schema(&t.thriftWriter)
	}
	rows := int64(0)
	for _, g := range w.groups {
		rows += int64(g.rows)
	}
	t.i64(3, rows)
	t.list(4, thriftStruct, len(w.groups))
	for i, g := range w.groups {
		g.write(&t.thriftWriter, i, t.indexes[i])
	}
	t.string(6, "sosgo version 1 (build 0)")
	t.list(7, thriftStruct, len(w.columns)) // column_orders
	for range w.columns {
		t.item()
		t.begin(1) // TYPE_ORDER
		t.end()
		t.end()
	}
	t.stop()
}

// schema appends a SchemaElement, with the type in its old form (ConvertedType) and in its new form
// (LogicalType).
func (c *Column) schema(t *thriftWriter) {
	const utf8, uint64Type, int64Type = 0, 14, 18
	t.item()
	t.i32(1, c.Type.physical())
	repetition := int32(0) // REQUIRED
	if c.Optional {
		repetition = 1
	}
	t.i32(3, repetition)
	t.string(4, c.Name)
	switch c.Type {
	case Text:
		t.i32(6, utf8)
		t.begin(10)
		t.begin(1) // STRING
		t.end()
		t.end()
	case Uint, Int:
		converted := int32(uint64Type)
		if c.Type == Int {
			converted = int64Type
		}
		t.i32(6, converted)
		t.begin(10)
		t.begin(10) // INTEGER
		t.byte(1, 64)
		t.bool(2, c.Type == Int)
		t.end()
		t.end()
	}
	t.end()
}

func (g *Group) write(t *thriftWriter, ordinal int, at []indexes) {
	t.item()
	t.list(1, thriftStruct, len(g.chunks))
	compressed, uncompressed := 0, 0
	for i := range g.chunks {
		c := &g.chunks[i]
		c.write(t, g, &at[i])
		compressed += c.end - c.start()
		uncompressed += c.uncompressed
	}
	t.i64(2, int64(uncompressed))
	t.i64(3, int64(g.rows))
	t.i64(5, g.offset)
	t.i64(6, int64(compressed))
	if ordinal <= 1<<15-1 {
		t.i16(7, int16(ordinal))
	}
	t.end()
}

// start returns the offset of the first page.
func (c *chunk) start() int {
	if c.dictionary >= 0 {
		return c.dictionary
	}
	return c.data
}

func (c *chunk) write(t *thriftWriter, g *Group, at *indexes) {
	t.item()
	t.i64(2, 0) // offset of another copy of the metadata
	t.begin(3)
	t.i32(1, c.column.Type.physical())
	encodings := c.encodings()
	t.list(2, thriftI32, len(encodings))
	for _, e := range encodings {
		t.varint(int64(e))
	}
	t.list(3, thriftBinary, 1)
	t.binaryItem([]byte(c.column.Name))
	t.i32(4, codecZstd)
	t.i64(5, int64(g.rows))
	t.i64(6, int64(c.uncompressed))
	t.i64(7, int64(c.end-c.start()))
	t.i64(9, g.offset+int64(c.data))
	if c.dictionary >= 0 {
		t.i64(11, g.offset+int64(c.dictionary))
	}
	c.stats.write(t, 12)
	t.end()
	t.i64(4, at.offsetOffset)
	t.i32(5, at.offsetLength)
	t.i64(6, at.columnOffset)
	t.i32(7, at.columnLength)
	t.end()
}

// encodings returns the encodings of the pages and levels of a chunk.
func (c *chunk) encodings() []Encoding {
	out := []Encoding{Plain}
	switch {
	case c.dictionaryUsed:
		out = []Encoding{Plain, Dictionary}
	case c.column.Encoding == Delta:
		out = []Encoding{Delta}
	}
	if c.column.Optional {
		out = append(out, encodingRLE)
	}
	return out
}
