package nativeformat_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/nativeformat"
	"github.com/sosgo/sosgo/target"
)

// number encodes an unsigned number in as few bytes as possible.
func number(v uint32) []byte {
	for width := uint(1); width < 5; width++ {
		if v < 1<<(7*width) {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], v<<width|(1<<(width-1)-1))
			return b[:width]
		}
	}
	return binary.LittleEndian.AppendUint32([]byte{0x0f}, v)
}

// A writer writes metadata.
type writer struct {
	b    []byte
	bits uint // width of the kind in handles
}

// wide writes numbers in the longest form.
func (w *writer) wide(list ...uint32) uint32 {
	at := uint32(len(w.b))
	for _, v := range list {
		w.b = binary.LittleEndian.AppendUint32(append(w.b, 0x0f), v)
	}
	return at
}

func (w *writer) text(s string) uint32 {
	at := uint32(len(w.b))
	w.b = append(w.b, number(uint32(len(s)))...)
	w.b = append(w.b, s...)
	return at
}

func (w *writer) handle(kind, at uint32) uint32 { return at<<w.bits | kind }

func (w *writer) token(kind, at uint32) nativeformat.Token {
	return nativeformat.Token(kind<<(32-w.bits) | at)
}

// Kinds of records that the tests write.
const (
	kindNamespaceReference = 0x30
	kindSZArray            = 0x37
	kindScope              = 0x38
	kindType               = 0x3a
	kindInstance           = 0x3c
	kindReference          = 0x3d
	kindNamespace          = 0x2f
)

// A sample is metadata of an assembly with a type and a nested type.
type sample struct {
	b            []byte
	outer, inner nativeformat.Token
	referred     nativeformat.Token
	method       nativeformat.Method
}

// write writes a sample. Records refer to later records, so it repeats until all offsets are stable, with
// numbers of one width.
func write(bits uint, ownerOf func(scope uint32) uint32) sample {
	var s sample
	var scope, root, ns, outer, inner uint32
	for range 3 {
		w := &writer{bits: bits, b: binary.LittleEndian.AppendUint32(nil, 0xdeaddffd)}
		w.wide(1, scope)
		app, zoo, name, nested, method := w.text("App"), w.text("Zoo"), w.text("Cage`1"), w.text("Lock"), w.text("Open")
		system, text := w.text("System"), w.text("String")
		in := w.wide(0, system)
		referred := w.wide(w.handle(kindNamespaceReference, in), text)
		array := w.wide(w.handle(kindReference, referred))
		instance := w.wide(w.handle(kindType, outer), 1, w.handle(kindReference, referred))
		signature := w.wide(0, 0, 0, 2, w.handle(kindSZArray, array), w.handle(kindInstance, instance))
		owner, above := w.handle(kindScope, ownerOf(scope)), w.handle(kindNamespace, root)
		scope = w.wide(0, app, 0, 1, 0, 0, 0, 0, 0, root)
		root = w.wide(owner, 0, 0, 0, 1, ns)
		ns = w.wide(above, zoo, 0, 0, 0)
		enclosing := outer
		outer = w.wide(0, 0, ns, name, 0, 0, 0, 1, inner)
		inner = w.wide(0, 0, ns, nested, 0, 0, enclosing, 0)
		s = sample{b: w.b, outer: w.token(kindType, outer), inner: w.token(kindType, inner), referred: w.token(kindReference, referred),
			method: nativeformat.Method{Owner: w.token(kindType, inner), Name: method, Signature: signature}}
	}
	return s
}

// TestNumbers checks that Methods reads back the numbers of a writer of this format.
func TestNumbers(t *testing.T) {
	for _, v := range []uint32{0, 1, 127, 128, 1<<14 - 1, 1 << 14, 1<<21 - 1, 1 << 21, 1<<28 - 1, 1 << 28, 1<<32 - 1} {
		b := append([]byte{1, 0, 0, 0, 2}, number(v)...)
		b = append(b, 0xfc, 0xff, 0xff, 0xff)
		m, err := nativeformat.Methods(b)
		require.NoError(t, err, v)
		require.Len(t, m, 1)
		assert.Equal(t, v, m[0].Name)
		assert.EqualValues(t, len(b)-4-4, m[0].Offset)
		_, err = nativeformat.Methods(b[:len(b)-1])
		require.ErrorIs(t, err, target.ErrCorrupt)
	}
}

// TestTypeMap decodes a hash table of two buckets, and refuses inconsistent ones.
func TestTypeMap(t *testing.T) {
	got, err := nativeformat.TypeMap(table)
	require.NoError(t, err)
	assert.Equal(t, []nativeformat.MappedType{{Fixup: 4, Type: 5}, {Fixup: 6, Type: 7}}, got)
	for name, b := range map[string][]byte{"nothing": {}, "huge": {31 << 2, 0}, "wide": {3, 0, 0, 0, 0, 0, 0, 0, 0}, "short": table[:6], "backwards": {0, 0, 9}} {
		_, err := nativeformat.TypeMap(b)
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

// table is a hash table. Its buckets begin at 3 and 5 and end at 7, all after the first byte. The entries are
// at 7 and 9, 3 and 3 from their relative offsets.
var table = []byte{1 << 2, 3, 5, 7, 0xaa, 3 << 1, 0xbb, 3 << 1, 4 << 1, 5 << 1, 6 << 1, 7 << 1}

// TestHeader refuses other data, and sections outside of the program.
func TestHeader(t *testing.T) {
	h := make([]byte, nativeformat.HeaderSize)
	binary.LittleEndian.PutUint32(h, nativeformat.HeaderSignature)
	h[12], h[14] = 1, 24
	n, err := nativeformat.RowsOf(h)
	require.NoError(t, err)
	assert.Equal(t, 24, n)
	row := make([]byte, 24)
	binary.LittleEndian.PutUint32(row, nativeformat.SectionMetadata)
	row[4] = 1
	binary.LittleEndian.PutUint64(row[8:], 0x1000)
	binary.LittleEndian.PutUint64(row[16:], 0x1010)
	s, err := nativeformat.Sections(row, target.Range{Start: 0x1000, End: 0x2000})
	require.NoError(t, err)
	assert.Equal(t, []nativeformat.Section{{Kind: nativeformat.SectionMetadata, Start: 0x1000, End: 0x1010}}, s)
	_, err = nativeformat.Sections(row, target.Range{Start: 0x1000, End: 0x1008})
	assert.ErrorIs(t, err, target.ErrCorrupt)
	h[14] = 8
	_, err = nativeformat.RowsOf(h)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestMetadata reads names of types and a method, by handles with both widths of their kind.
func TestMetadata(t *testing.T) {
	for _, bits := range []uint{7, 8} {
		s := write(bits, func(scope uint32) uint32 { return scope })
		m, err := nativeformat.Open(s.b)
		require.NoError(t, err, bits)
		for token, want := range map[nativeformat.Token]string{s.outer: "Zoo.Cage`1 App", s.inner: "Zoo.Cage`1+Lock App", s.referred: "System.String "} {
			name, assembly, err := m.TypeName(m.Handle(token))
			require.NoError(t, err)
			assert.Equal(t, want, name+" "+assembly)
		}
		name, err := m.MethodName(&s.method)
		require.NoError(t, err)
		assert.Equal(t, "Zoo.Cage`1+Lock.Open(String[], Cage`1<String>)", name)
		_, _, err = m.TypeName(nativeformat.Handle{Type: kindNamespace})
		require.ErrorIs(t, err, target.ErrUnsupported)
	}
}

// TestOtherSchema checks that a schema with other kinds is refused.
func TestOtherSchema(t *testing.T) {
	s := write(7, func(scope uint32) uint32 { return scope + 1 })
	_, err := nativeformat.Open(s.b)
	require.ErrorIs(t, err, target.ErrUnsupported)
}

// TestOpenRefuses checks that metadata of another schema is unsupported, and damaged metadata is corrupt.
func TestOpenRefuses(t *testing.T) {
	_, err := nativeformat.Open([]byte("BSJB"))
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = nativeformat.Open(binary.LittleEndian.AppendUint32(nil, 0xdeaddffd))
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func FuzzMetadata(f *testing.F) {
	f.Add([]byte{0xfd, 0xdf, 0xad, 0xde, 2, 16}, uint32(0x3a000010))
	f.Fuzz(func(_ *testing.T, b []byte, token uint32) {
		m, err := nativeformat.Open(b)
		if err != nil {
			return
		}
		_, _, _ = m.TypeName(m.Handle(nativeformat.Token(token)))
		_, _ = m.MethodOf(m.Handle(nativeformat.Token(token)), token&0xffff)
		_, _ = m.MethodName(&nativeformat.Method{Owner: nativeformat.Token(token), Name: token & 0xff, Signature: token & 0xffff})
	})
}

func FuzzMaps(f *testing.F) {
	f.Add(table)
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = nativeformat.TypeMap(b)
		_, _ = nativeformat.InvokeMap(b)
		_, _ = nativeformat.Methods(b)
		_, _ = nativeformat.RowsOf(b)
		_, _ = nativeformat.Sections(b, target.Range{Start: 0, End: 1 << 40})
	})
}

func ExampleTypeMap() {
	list, err := nativeformat.TypeMap([]byte{0, 2, 4, 0xaa, 2 << 1, 0, 3 << 1, 4 << 1})
	fmt.Println(list, err)
	// Output: [{3 4}] <nil>
}
