package metadata

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A builder writes metadata for tests. Tests choose the widths of columns by the Go types of the values. It
// does not use the reader's schema, so that a mistake there shows.
type builder struct {
	stream    string // "#~" unless set
	heapSizes byte
	sorted    uint64
	counts    map[TableID]uint32 // row counts to lie about
	rows      map[TableID][][]byte
	strings   []byte
	blobs     []byte
	guids     []byte
	user      []byte
	pdb       []byte
	more      []string // names of empty streams
}

func newBuilder() *builder {
	return &builder{
		stream: "#~", strings: []byte{0}, blobs: []byte{0}, user: []byte{0},
		rows: map[TableID][][]byte{}, counts: map[TableID]uint32{},
	}
}

// str adds a string and returns its index.
func (w *builder) str(s string) uint16 {
	i := len(w.strings)
	w.strings = append(append(w.strings, s...), 0)
	return uint16(i)
}

// blob adds a blob of less than 0x80 bytes.
func (w *builder) blob(b ...byte) uint16 {
	i := len(w.blobs)
	w.blobs = append(append(w.blobs, byte(len(b))), b...)
	return uint16(i)
}

// guid adds a GUID of sixteen bytes c.
func (w *builder) guid(c byte) uint16 {
	w.guids = append(w.guids, slices.Repeat([]byte{c}, 16)...)
	return uint16(len(w.guids) / 16)
}

// row adds a row of uint16 and uint32 columns.
func (w *builder) row(id TableID, cols ...any) {
	var b []byte
	for _, c := range cols {
		switch c := c.(type) {
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, c)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, c)
		default:
			panic("column of another type")
		}
	}
	w.rows[id] = append(w.rows[id], b)
}

func (w *builder) tables() []byte {
	valid := uint64(0)
	for id := range TableID(64) {
		if len(w.rows[id]) > 0 || w.counts[id] > 0 {
			valid |= 1 << id
		}
	}
	b := []byte{0, 0, 0, 0, 2, 0, w.heapSizes, 1}
	b = binary.LittleEndian.AppendUint64(b, valid)
	b = binary.LittleEndian.AppendUint64(b, w.sorted)
	for m := valid; m != 0; m &= m - 1 {
		id := TableID(bits.TrailingZeros64(m))
		n, lie := w.counts[id]
		if !lie {
			n = uint32(len(w.rows[id]))
		}
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	if w.heapSizes&heapExtraData != 0 {
		b = append(b, 0xEE, 0xEE, 0xEE, 0xEE)
	}
	for id := range TableID(64) {
		b = append(b, slices.Concat(w.rows[id]...)...)
	}
	return b
}

// bytes returns the metadata.
func (w *builder) bytes() []byte {
	type stream struct {
		name string
		data []byte
	}
	streams := []stream{
		{w.stream, w.tables()}, {"#Strings", w.strings}, {"#Blob", w.blobs},
		{"#GUID", w.guids}, {"#US", w.user},
	}
	if w.pdb != nil {
		streams = append(streams, stream{"#Pdb", w.pdb})
	}
	for _, name := range w.more {
		streams = append(streams, stream{name, nil})
	}
	le := binary.LittleEndian
	b := le.AppendUint32(nil, rootSignature)
	b = append(b, 1, 0, 1, 0, 0, 0, 0, 0, 12, 0, 0, 0)
	b = append(b, "v4.0.30319\x00\x00"...)
	b = append(b, 0, 0, byte(len(streams)), 0)
	off := len(b)
	for _, s := range streams {
		off += 8 + (len(s.name)+4)&^3
	}
	for _, s := range streams {
		b = le.AppendUint32(b, uint32(off))
		b = le.AppendUint32(b, uint32(len(s.data)))
		b = append(b, s.name...)
		b = append(b, make([]byte, (len(s.name)+4)&^3-len(s.name))...)
		off += len(s.data)
	}
	for _, s := range streams {
		b = append(b, s.data...)
	}
	return b
}

func (w *builder) open(t testing.TB, opts ...Option) *Metadata {
	t.Helper()
	md, err := Parse(w.bytes(), opts...)
	require.NoError(t, err)
	return md
}

const sortedAll = 0x16003301FA00 // what compilers write

// zoo returns a small module: <Module>, Zoo.Animal with two fields and two methods,
// Animal+Cage+Lock nested twice, the enum Zoo.Color, and references.
func zoo() *builder {
	w := newBuilder()
	w.sorted = sortedAll
	w.row(TableModule, uint16(0), w.str("Zoo.dll"), w.guid(0x11), uint16(0), uint16(0))

	object, system := w.str("Object"), w.str("System")
	const assemblyRefScope, typeRefScope = 2, 3
	w.row(TableTypeRef, uint16(1<<2|assemblyRefScope), object, system)                // 1: System.Object
	w.row(TableTypeRef, uint16(1<<2|assemblyRefScope), w.str("Environment"), system)  // 2
	w.row(TableTypeRef, uint16(2<<2|typeRefScope), w.str("SpecialFolder"), uint16(0)) // 3: nested in 2
	w.row(TableTypeRef, uint16(1<<2|assemblyRefScope), w.str("List`1"), system)       // 4

	const objectRef = 1<<2 | 1
	animal, space := w.str("Animal"), w.str("Zoo")
	w.row(TableTypeDef, uint32(0), w.str("<Module>"), uint16(0), uint16(0), uint16(1), uint16(1))      // 1
	w.row(TableTypeDef, uint32(1), animal, space, uint16(objectRef), uint16(1), uint16(1))             // 2
	w.row(TableTypeDef, uint32(2), w.str("Cage"), uint16(0), uint16(objectRef), uint16(3), uint16(3))  // 3
	w.row(TableTypeDef, uint32(2), w.str("Lock"), uint16(0), uint16(objectRef), uint16(3), uint16(3))  // 4
	w.row(TableTypeDef, uint32(0x100), w.str("Color"), space, uint16(objectRef), uint16(3), uint16(4)) // 5

	w.row(TableField, uint16(0), w.str("legs"), w.blob(0x06, 0x08))           // 1: I4
	w.row(TableField, uint16(0), w.str("name"), w.blob(0x06, 0x0E))           // 2: String
	w.row(TableField, uint16(0x0606), w.str("value__"), w.blob(0x06, 0x05))   // 3: U1
	w.row(TableField, uint16(0x8056), w.str("Red"), w.blob(0x06, 0x11, 5<<2)) // 4: Color

	ctor := w.blob(0x20, 0, 0x01)
	w.row(TableMethodDef, uint32(0x2050), uint16(0), uint16(0x1886), w.str(".ctor"), ctor, uint16(1)) // 1
	feed := w.blob(0x20, 2, 0x02, 0x1D, 0x0E, 0x10, 0x11, 5<<2)                                       // bool (string[], ref Color)
	w.row(TableMethodDef, uint32(0x2060), uint16(0), uint16(0x86), w.str("Feed"), feed, uint16(1))    // 2
	w.row(TableMethodDef, uint32(0), uint16(0), uint16(0x96), w.str("Open"), ctor, uint16(3))         // 3: of Lock

	w.row(TableParam, uint16(0), uint16(1), w.str("food"))
	w.row(TableParam, uint16(0), uint16(2), w.str("color"))

	w.row(TableInterfaceImpl, uint16(2), uint16(objectRef))
	w.row(TableMemberRef, uint16(1<<3|1), w.str(".ctor"), ctor)
	w.row(TableConstant, uint16(0x05), uint16(4<<2), w.blob(7)) // of field Red
	w.row(TableCustomAttribute, uint16(2<<5|3), uint16(1<<3|3), w.blob(1, 0, 0, 0))
	w.row(TableClassLayout, uint16(8), uint32(24), uint16(2))
	w.row(TableFieldLayout, uint32(4), uint16(1))
	w.row(TableStandAloneSig, w.blob(0x07, 2, 0x08, 0x45, 0x0E))
	w.row(TableTypeSpec, w.blob(0x15, 0x12, 4<<2|1, 1, 0x0E)) // List<string>
	w.row(TableImplMap, uint16(0x100), uint16(3<<1|1), w.str("open"), uint16(1))
	w.row(TableModuleRef, w.str("libc"))
	w.row(TableFieldRVA, uint32(0x3000), uint16(2))
	w.row(TableAssembly, uint32(0x8004), uint16(1), uint16(2), uint16(3), uint16(4), uint32(0), uint16(0), w.str("Zoo"), uint16(0))
	w.row(TableAssemblyRef, uint16(10), uint16(0), uint16(0), uint16(0), uint32(0), uint16(0), w.str("System.Runtime"), uint16(0), uint16(0))
	w.row(TableNestedClass, uint16(3), uint16(2))
	w.row(TableNestedClass, uint16(4), uint16(3))
	w.row(TableGenericParam, uint16(0), uint16(0), uint16(2<<1|1), w.str("T"))
	w.row(TableMethodSpec, uint16(2<<1), w.blob(0x0A, 1, 0x08))
	w.row(TablePropertyMap, uint16(2), uint16(1))
	w.row(TableProperty, uint16(0), w.str("Legs"), w.blob(0x28, 0, 0x08))
	w.row(TableMethodSemantics, uint16(2), uint16(2), uint16(1<<1|1))
	w.user = append(w.user, 5, 'h', 0, 'i', 0, 0)
	return w
}
