package parquetfile

import "encoding/binary"

// The metadata of a file is written in Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// A thriftWriter appends structures to a buffer. Fields are written in the order of their ids.
type thriftWriter struct {
	b     []byte
	last  int   // id of the previous field of the structure
	outer []int // last of the enclosing structures
}

func (t *thriftWriter) field(id, typ int) {
	if delta := id - t.last; delta > 0 && delta < 16 {
		t.b = append(t.b, byte(delta<<4|typ))
	} else {
		t.b = binary.AppendVarint(append(t.b, byte(typ)), int64(id))
	}
	t.last = id
}

func (t *thriftWriter) i32(id int, v int32) {
	t.field(id, thriftI32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thriftWriter) i64(id int, v int64) {
	t.field(id, thriftI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thriftWriter) i16(id int, v int16) {
	t.field(id, thriftI16)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thriftWriter) byte(id int, v byte) {
	t.field(id, thriftByte)
	t.b = append(t.b, v)
}

func (t *thriftWriter) bool(id int, v bool) {
	if v {
		t.field(id, thriftTrue)
	} else {
		t.field(id, thriftFalse)
	}
}

func (t *thriftWriter) bytes(id int, v []byte) {
	t.field(id, thriftBinary)
	t.binaryItem(v)
}

func (t *thriftWriter) string(id int, v string) { t.bytes(id, []byte(v)) }

// binaryItem appends an element of a list of binaries or strings.
func (t *thriftWriter) binaryItem(v []byte) {
	t.b = append(binary.AppendUvarint(t.b, uint64(len(v))), v...)
}

// list begins a field that is a list of n elements.
func (t *thriftWriter) list(id, typ, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n<<4|typ))
	} else {
		t.b = binary.AppendUvarint(append(t.b, byte(0xf0|typ)), uint64(n))
	}
}

// begin begins a field that is a structure.
func (t *thriftWriter) begin(id int) {
	t.field(id, thriftStruct)
	t.item()
}

// item begins a structure that is an element of a list.
func (t *thriftWriter) item() { t.outer, t.last = append(t.outer, t.last), 0 }

// end ends a structure started by begin or item.
func (t *thriftWriter) end() {
	t.stop()
	t.last = t.outer[len(t.outer)-1]
	t.outer = t.outer[:len(t.outer)-1]
}

// stop ends the outermost structure.
func (t *thriftWriter) stop() { t.b = append(t.b, 0) }

// varint appends an element of a list of integers.
func (t *thriftWriter) varint(v int64) { t.b = binary.AppendVarint(t.b, v) }
