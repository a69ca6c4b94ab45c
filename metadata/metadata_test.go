package metadata

import (
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

func rids(t *testing.T, r RowRange, err error) []uint32 {
	t.Helper()
	require.NoError(t, err)
	var out []uint32
	for rid, err := range r.All() {
		require.NoError(t, err)
		out = append(out, rid)
	}
	return out
}

func TestRows(t *testing.T) {
	md := zoo().open(t)
	assert.Equal(t, "v4.0.30319", md.Version())
	assert.False(t, md.Uncompressed())
	assert.Nil(t, md.PDB())
	assert.EqualValues(t, 5, md.RowCount(TableTypeDef))
	assert.Zero(t, md.RowCount(UserStringHeap))

	mod, err := md.Module(1)
	require.NoError(t, err)
	name, err := md.String(mod.Name)
	require.NoError(t, err)
	assert.Equal(t, "Zoo.dll", name)
	mvid, err := md.GUID(mod.MVID)
	require.NoError(t, err)
	assert.Equal(t, "11111111-1111-1111-1111-111111111111", mvid.String())

	animal, err := md.TypeDef(2)
	require.NoError(t, err)
	assert.Equal(t, NewToken(TableTypeRef, 1), animal.Extends)

	asm, err := md.Assembly(1)
	require.NoError(t, err)
	assert.Equal(t, [4]uint16{1, 2, 3, 4}, asm.Version)

	feed, err := md.MethodDef(2)
	require.NoError(t, err)
	assert.EqualValues(t, 0x2060, feed.RVA)

	s, err := md.UserString(NewToken(UserStringHeap, 1))
	require.NoError(t, err)
	assert.Equal(t, "hi", s)
}

func TestNames(t *testing.T) {
	md := zoo().open(t)
	for rid, want := range map[uint32]string{1: "<Module>", 2: "Zoo.Animal", 3: "Zoo.Animal+Cage", 4: "Zoo.Animal+Cage+Lock", 5: "Zoo.Color"} {
		got, err := md.TypeDefFullName(rid)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		for range 2 * unindexed { // by rows, then by the index
			tok, ok := md.FindTypeDef(want)
			assert.True(t, ok)
			assert.Equal(t, NewToken(TableTypeDef, rid), tok)
		}
	}
	for _, name := range []string{"", "Zoo", "Zoo.Animal+", "Lock", "zoo.animal", ".Zoo.Animal", "Animal", "Zoo.Animal+Lock", "Zoo.Zoo.Animal", "+Cage"} {
		_, ok := md.FindTypeDef(name)
		assert.False(t, ok, name)
		_, ok = md.searchTypeDef(name)
		assert.False(t, ok, name)
	}
	ref, err := md.TypeRefFullName(3)
	require.NoError(t, err)
	assert.Equal(t, "System.Environment+SpecialFolder", ref)
	for tok, want := range map[Token]string{0x02000003: "Zoo.Animal+Cage", 0x01000001: "System.Object"} {
		got, err := md.TypeFullName(tok)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err = md.TypeFullName(0x1B000001)
	assert.ErrorIs(t, err, target.ErrUnsupported)
	scope, err := md.TypeRefScope(3)
	require.NoError(t, err)
	assert.Equal(t, NewToken(TableAssemblyRef, 1), scope)

	_, ok := newBuilder().open(t).FindTypeDef("X")
	assert.False(t, ok)
}

func TestRelations(t *testing.T) {
	md := zoo().open(t)
	r, err := md.Fields(2)
	assert.Equal(t, []uint32{1, 2}, rids(t, r, err))
	r, err = md.Methods(2)
	assert.Equal(t, []uint32{1, 2}, rids(t, r, err))
	r, err = md.Methods(3)
	assert.Empty(t, rids(t, r, err))
	r, err = md.Methods(4)
	assert.Equal(t, []uint32{3}, rids(t, r, err))
	r, err = md.Params(2)
	assert.Equal(t, []uint32{1, 2}, rids(t, r, err))
	r, err = md.GenericParams(NewToken(TableMethodDef, 2))
	assert.Equal(t, []uint32{1}, rids(t, r, err))
	r, err = md.InterfaceImpls(2)
	assert.Equal(t, []uint32{1}, rids(t, r, err))
	r, err = md.NestedClasses(2)
	assert.Equal(t, []uint32{1}, rids(t, r, err))
	r, err = md.CustomAttributes(NewToken(TableTypeDef, 2))
	assert.Equal(t, []uint32{1}, rids(t, r, err))

	for method, want := range map[uint32]uint32{1: 2, 2: 2, 3: 4} {
		got, err := md.MethodOwner(method)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for field, want := range map[uint32]uint32{1: 2, 2: 2, 3: 5, 4: 5} {
		got, err := md.FieldOwner(field)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	layout, ok, err := md.LayoutOf(2)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.EqualValues(t, 24, layout.ClassSize)
	_, ok, err = md.LayoutOf(3)
	require.NoError(t, err)
	assert.False(t, ok)
	off, ok, err := md.OffsetOf(1)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.EqualValues(t, 4, off)
	rva, ok, err := md.RVAOf(2)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.EqualValues(t, 0x3000, rva)
	im, ok, err := md.ImplMapOf(NewToken(TableMethodDef, 3))
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, NewToken(TableModuleRef, 1), im.ImportScope)

	v, ok, err := md.ConstantOf(NewToken(TableField, 4))
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, uint8(7), v)
	_, ok, err = md.ConstantOf(NewToken(TableField, 1))
	require.NoError(t, err)
	assert.False(t, ok)
	_, _, err = md.ConstantOf(NewToken(TableTypeDef, 1))
	assert.ErrorIs(t, err, target.ErrCorrupt)

	enum, err := md.EnumType(5)
	require.NoError(t, err)
	assert.Equal(t, ElementU1, enum)
	_, err = md.EnumType(2 + 1)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestUnsorted reads the same module when the writer sorted nothing.
func TestUnsorted(t *testing.T) {
	w := zoo()
	w.sorted = 0
	n := w.rows[TableNestedClass]
	n[0], n[1] = n[1], n[0]
	md := w.open(t)
	name, err := md.TypeDefFullName(4)
	require.NoError(t, err)
	assert.Equal(t, "Zoo.Animal+Cage+Lock", name)
	r, err := md.InterfaceImpls(2)
	assert.Equal(t, []uint32{1}, rids(t, r, err))
	r, err = md.NestedClasses(2)
	assert.Equal(t, []uint32{2}, rids(t, r, err))
}

// TestPtrTables reads uncompressed metadata with lists that go through Ptr tables.
func TestPtrTables(t *testing.T) {
	w := newBuilder()
	w.stream = "#-"
	name := w.str("A")
	w.row(TableTypeDef, uint32(0), name, uint16(0), uint16(0), uint16(1), uint16(1))
	w.row(TableTypeDef, uint32(0), name, uint16(0), uint16(0), uint16(3), uint16(1))
	for _, rid := range []uint16{3, 1, 2} {
		w.row(TableFieldPtr, rid)
		w.row(TableField, uint16(0), name, uint16(0))
	}
	md := w.open(t)
	assert.True(t, md.Uncompressed())
	r, err := md.Fields(1)
	assert.Equal(t, []uint32{3, 1}, rids(t, r, err))
	r, err = md.Fields(2)
	assert.Equal(t, []uint32{2}, rids(t, r, err))
	for field, want := range map[uint32]uint32{1: 1, 2: 2, 3: 1} {
		got, err := md.FieldOwner(field)
		require.NoError(t, err)
		assert.Equal(t, want, got, field)
	}
	_, err = r.RID(1)
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func TestWideIndexes(t *testing.T) {
	w := newBuilder()
	w.heapSizes = heapLargeStrings | heapLargeGUIDs | heapLargeBlobs | heapExtraData
	name := uint32(w.str("Wide"))
	w.row(TableModule, uint16(0), name, uint32(1), uint32(0), uint32(0))
	w.row(TableField, uint16(0), name, uint32(0))
	for range 0x4000 { // ResolutionScope and TypeDefOrRef have two tag bits
		w.row(TableTypeRef, uint16(0), name, uint32(0))
	}
	w.row(TableTypeDef, uint32(0), name, uint32(0), uint32(0x4000<<2|1), uint16(1), uint16(1))
	w.row(TableInterfaceImpl, uint16(1), uint32(0x4000<<2|1))
	for range 0x10000 {
		w.row(TableModuleRef, name)
	}
	// The table itself is wide now as a scope, too.
	for i := range w.rows[TableTypeRef] {
		w.rows[TableTypeRef][i] = append([]byte{0, 0, 0, 0}, w.rows[TableTypeRef][i][2:]...)
	}
	w.row(TableImplMap, uint16(0), uint16(0), name, uint32(0x10000))
	w.guid(0x22)
	md := w.open(t)
	row, err := md.TypeDef(1)
	require.NoError(t, err)
	assert.Equal(t, NewToken(TableTypeRef, 0x4000), row.Extends)
	im, err := md.ImplMap(1)
	require.NoError(t, err)
	assert.Equal(t, NewToken(TableModuleRef, 0x10000), im.ImportScope)
	s, err := md.TypeRefFullName(0x4000)
	require.NoError(t, err)
	assert.Equal(t, "Wide", s)
}

func TestPortablePDB(t *testing.T) {
	w := newBuilder()
	le := binary.LittleEndian
	w.pdb = make([]byte, 20)
	w.pdb[0] = 0xAB
	w.pdb = le.AppendUint32(w.pdb, 0x06000001)
	w.pdb = le.AppendUint64(w.pdb, 1<<TableMethodDef)
	w.pdb = le.AppendUint32(w.pdb, 0x10000) // makes MethodDef indexes wide
	src, file := w.blob([]byte("src")...), w.blob([]byte("Zoo.cs")...)
	w.row(TableDocument, w.blob('/', 0, byte(src), byte(file)), w.guid(1), uint16(0), uint16(1))
	w.row(TableMethodDebugInformation, uint16(1), uint16(0))
	w.row(TableLocalScope, uint32(0x10000), uint16(0), uint16(1), uint16(1), uint32(0), uint32(20))
	w.row(TableLocalVariable, uint16(0), uint16(3), w.str("count"))
	w.row(TableLocalConstant, w.str("limit"), w.blob(0x08, 1, 0, 0, 0))
	w.row(TableImportScope, uint16(0), uint16(0))
	w.row(TableStateMachineMethod, uint32(0xFFFF), uint32(7))
	w.row(TableCustomDebugInformation, uint32(1<<5|22), uint16(1), uint16(0))
	md := w.open(t)
	require.NotNil(t, md.PDB())
	assert.EqualValues(t, 0xAB, md.PDB().ID[0])
	assert.EqualValues(t, 0x06000001, md.PDB().EntryPoint)
	assert.EqualValues(t, 0x10000, md.PDB().TypeRows[TableMethodDef])

	name, err := md.DocumentName(1)
	require.NoError(t, err)
	assert.Equal(t, "/src/Zoo.cs", name)
	r, err := md.LocalScopes(0x10000)
	require.Equal(t, []uint32{1}, rids(t, r, err))
	r, err = md.LocalVariables(1)
	assert.Equal(t, []uint32{1}, rids(t, r, err))
	v, err := md.LocalVariable(1)
	require.NoError(t, err)
	assert.EqualValues(t, 3, v.Index)
}

// TestAllocations guards the hot paths.
func TestAllocations(t *testing.T) {
	md := zoo().open(t)
	var buf [256]byte
	for name, c := range map[string]struct {
		max float64
		fn  func() error
	}{
		"row":            {0, func() error { _, err := md.MethodDef(2); return err }},
		"string bytes":   {0, func() error { _, err := md.StringBytes(1); return err }},
		"blob":           {0, func() error { _, err := md.Blob(1); return err }},
		"owner":          {0, func() error { _, err := md.MethodOwner(3); return err }},
		"fields":         {0, func() error { _, err := md.Fields(2); return err }},
		"attributes":     {0, func() error { _, err := md.CustomAttributes(NewToken(TableTypeDef, 2)); return err }},
		"appended name":  {0, func() error { _, err := md.AppendTypeDefFullName(buf[:0], 4); return err }},
		"full name":      {1, func() error { _, err := md.TypeDefFullName(4); return err }},
		"reference name": {1, func() error { _, err := md.TypeRefFullName(3); return err }},
		"find":           {0, func() error { md.FindTypeDef("Zoo.Animal+Cage+Lock"); return nil }},
	} {
		n := testing.AllocsPerRun(100, func() {
			if err := c.fn(); err != nil {
				t.Fatal(name, err)
			}
		})
		assert.LessOrEqual(t, n, c.max, name)
	}
}

func TestCorruptMetadata(t *testing.T) {
	good := zoo().bytes()
	cases := map[string]func() []byte{
		"empty":           func() []byte { return nil },
		"signature":       func() []byte { return []byte("BSJA0123456789abcdef") },
		"version length":  func() []byte { b := clone(good); b[12] = 0xFF; b[13] = 0xFF; return b },
		"stream past end": func() []byte { b := clone(good); b[36] = 0xFF; b[39] = 0x7F; return b },
		"stream name":     func() []byte { b := clone(good); copy(b[40:], "################################"); return b[:72] },
		"no tables":       func() []byte { w := zoo(); w.stream = "#?"; return w.bytes() },
		"row count": func() []byte {
			w := zoo()
			w.counts[TableTypeDef] = 0xFFFFFF
			return w.bytes()
		},
		"row count of more than 24 bits": func() []byte {
			w := zoo()
			w.counts[TableTypeDef] = 0xFFFFFFFF
			return w.bytes()
		},
		"unknown table":      func() []byte { w := zoo(); w.counts[0x3F] = 1; return w.bytes() },
		"table without rows": func() []byte { w := zoo(); w.counts[0x2E] = 1; return w.bytes() },
		"short pdb":          func() []byte { w := zoo(); w.pdb = []byte{1}; return w.bytes() },
	}
	for name, make := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(make())
			var fe *FormatError
			require.ErrorAs(t, err, &fe)
			assert.ErrorIs(t, err, target.ErrCorrupt)
			assert.NotErrorIs(t, err, target.ErrNotInDump)
			assert.NotEmpty(t, err.Error())
		})
	}
}

func clone(b []byte) []byte { return append([]byte(nil), b...) }

// TestTruncated opens every prefix. None may open or panic.
func TestTruncated(t *testing.T) {
	b := zoo().bytes()
	for n := range len(b) {
		_, err := Parse(b[:n])
		require.ErrorIs(t, err, target.ErrCorrupt, n)
	}
}

func TestCorruptRows(t *testing.T) {
	w := zoo()
	w.rows[TableTypeDef] = w.rows[TableTypeDef][:4]
	w.row(TableTypeDef, uint32(0), uint16(0xFFFF), uint16(0), uint16(3), uint16(0xFF00), uint16(1))
	md := w.open(t)
	check := func(err error) {
		t.Helper()
		var fe *FormatError
		assert.ErrorAs(t, err, &fe)
		assert.ErrorIs(t, err, target.ErrCorrupt)
	}
	_, err := md.TypeDef(0)
	check(err)
	_, err = md.TypeDef(6)
	check(err)
	_, err = md.TypeDef(0xFFFFFFFF)
	check(err)
	_, err = md.TypeDef(5) // tag 3 of TypeDefOrRef
	check(err)
	_, err = md.Fields(5)
	check(err)
	_, err = md.MethodOwner(0)
	check(err)
	_, err = md.MethodOwner(99)
	check(err)
	_, err = md.String(0xFFFF)
	check(err)
	_, err = md.Blob(0xFFFFFFFF)
	check(err)
	_, err = md.GUID(2)
	check(err)
	_, err = md.UserString(0x70FFFFFF)
	check(err)
	_, err = md.UserString(0x06000001)
	check(err)
	_, err = md.GenericParams(NewToken(TableField, 1))
	check(err)

	w = zoo()
	w.blobs = append(w.blobs, 0x7F) // length of the last blob lies
	w.strings = append(w.strings, 'x')
	md = w.open(t)
	_, err = md.Blob(BlobIndex(len(w.blobs) - 1))
	check(err)
	_, err = md.String(StringIndex(len(w.strings) - 1))
	check(err)
}

func TestCyclicNesting(t *testing.T) {
	w := newBuilder()
	name := w.str("A")
	for range 2 {
		w.row(TableTypeDef, uint32(2), name, uint16(0), uint16(0), uint16(1), uint16(1))
	}
	w.row(TableNestedClass, uint16(1), uint16(2))
	w.row(TableNestedClass, uint16(2), uint16(1))
	w.row(TableTypeRef, uint16(1<<2|3), name, uint16(0))
	w.sorted = sortedAll
	md := w.open(t)
	_, err := md.TypeDefFullName(1)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = md.TypeRefFullName(1)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = md.TypeRefScope(1)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, ok := md.FindTypeDef("A+A")
	assert.False(t, ok)
}

// TestDeepNesting: types that are nested deeper than sosgo reads are no damage.
func TestDeepNesting(t *testing.T) {
	const depth = limits.NestedTypeDepth + 1
	w := newBuilder()
	name := w.str("A")
	for i := range uint16(depth) {
		w.row(TableTypeDef, uint32(2), name, uint16(0), uint16(0), uint16(1), uint16(1))
		if i > 0 {
			w.row(TableNestedClass, i+1, i)
		}
		scope := i<<2 | 3
		if i == 0 {
			scope = 0 // the module
		}
		w.row(TableTypeRef, scope, name, uint16(0))
	}
	w.sorted = sortedAll
	md := w.open(t)
	for _, rid := range []uint32{depth - 1, depth} {
		check := assert.NoError
		if rid == depth {
			check = func(t assert.TestingT, err error, _ ...any) bool { return assert.ErrorIs(t, err, target.ErrLimit) }
		}
		_, err := md.TypeDefFullName(rid)
		check(t, err)
		_, err = md.TypeRefFullName(rid)
		check(t, err)
		_, err = md.TypeRefScope(rid)
		check(t, err)
	}
}

func TestLongNames(t *testing.T) {
	w := newBuilder()
	w.heapSizes = heapLargeStrings
	w.strings = append(w.strings, make([]byte, limits.IdentifierBytes+2)...)
	for i := range w.strings[1:] {
		w.strings[1+i] = 'x'
	}
	w.strings[len(w.strings)-1] = 0
	w.row(TableTypeDef, uint32(0), uint32(1), uint32(0), uint16(0), uint16(1), uint16(1))
	w.row(TableTypeDef, uint32(0), uint32(2), uint32(0), uint16(0), uint16(1), uint16(1))
	md := w.open(t)
	_, err := md.TypeDefFullName(1)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = md.TypeDefFullName(2)
	assert.NoError(t, err)
}

// TestSparse takes one byte away after the other. What still succeeds must return the same as with all
// metadata.
func TestSparse(t *testing.T) {
	b := zoo().bytes()
	whole, err := Parse(b)
	require.NoError(t, err)
	want := describe(whole)
	missing := 0
	for hole := range len(b) {
		holed := clone(b)
		holed[hole] = 0
		md, err := Parse(holed, Sparse(func(off, n int) bool { return hole < off || hole >= off+n }))
		if err != nil {
			require.ErrorIs(t, err, target.ErrNotInDump, hole)
			continue
		}
		for i, got := range describe(md) {
			if got.err != nil {
				require.ErrorIs(t, got.err, target.ErrNotInDump, "%s without byte %#x", want[i].what, hole)
				var me *MissingError
				require.ErrorAs(t, got.err, &me)
				missing++
				continue
			}
			require.Equal(t, want[i].value, got.value, "%s without byte %#x", want[i].what, hole)
		}
	}
	assert.NotZero(t, missing)
}

type answer struct {
	what  string
	value string
	err   error
}

// describe calls many methods of md.
func describe(md *Metadata) []answer {
	var out []answer
	add := func(what string, v any, err error) {
		out = append(out, answer{what, fmt.Sprint(v), err})
	}
	for rid := uint32(1); rid <= md.RowCount(TableTypeDef); rid++ {
		name, err := md.TypeDefFullName(rid)
		add("name", name, err)
		outer, err := md.EnclosingClass(rid)
		add("enclosing", outer, err)
		r, err := md.NestedClasses(rid)
		add("nested", rowsOf(r), err)
		r, err = md.Methods(rid)
		add("methods", rowsOf(r), err)
	}
	for rid := uint32(1); rid <= md.RowCount(TableMethodDef); rid++ {
		owner, err := md.MethodOwner(rid)
		add("owner", owner, err)
		row, err := md.MethodDef(rid)
		add("method", row, err)
		if err == nil {
			sig, err := md.Blob(row.Signature)
			add("signature", sig, err)
		} else {
			add("signature", nil, err)
		}
	}
	ref, err := md.TypeRefFullName(3)
	add("reference", ref, err)
	s, err := md.UserString(NewToken(UserStringHeap, 1))
	add("user string", s, err)
	g, err := md.GUID(1)
	add("guid", g, err)
	c, ok, err := md.ConstantOf(NewToken(TableField, 4))
	add("constant", []any{c, ok}, err)
	return out
}

func TestTokens(t *testing.T) {
	tok := NewToken(TableMethodDef, 0x123456)
	assert.Equal(t, Token(0x06123456), tok)
	assert.Equal(t, "06123456", tok.String())
	assert.Equal(t, TableMethodDef, tok.Table())
	assert.EqualValues(t, 0x123456, tok.Row())
	assert.False(t, tok.IsNil())
	assert.True(t, NewToken(TableTypeDef, 0).IsNil())
	assert.Equal(t, "CustomDebugInformation", TableCustomDebugInformation.String())
	assert.Equal(t, "Table(0x2e)", TableID(0x2E).String())
	assert.Equal(t, "UserString", UserStringHeap.String())
}

func TestCompressed(t *testing.T) {
	// ECMA-335 II.23.2 gives these examples.
	for _, c := range []struct {
		b []byte
		v uint32
	}{
		{[]byte{0x03}, 0x03}, {[]byte{0x7F}, 0x7F}, {[]byte{0x80, 0x80}, 0x80},
		{[]byte{0xAE, 0x57}, 0x2E57}, {[]byte{0xBF, 0xFF}, 0x3FFF},
		{[]byte{0xC0, 0x00, 0x40, 0x00}, 0x4000}, {[]byte{0xDF, 0xFF, 0xFF, 0xFF}, 0x1FFFFFFF},
	} {
		v, n := uncompress(c.b)
		assert.Equal(t, c.v, v)
		assert.Equal(t, len(c.b), n)
		_, n = uncompress(c.b[:len(c.b)-1])
		assert.Zero(t, n)
	}
	for _, c := range []struct {
		b []byte
		v int32
	}{
		{[]byte{0x06}, 3}, {[]byte{0x7B}, -3}, {[]byte{0x80, 0x80}, 64}, {[]byte{0x01}, -64},
		{[]byte{0xC0, 0x00, 0x40, 0x00}, 8192}, {[]byte{0x80, 0x01}, -8192},
		{[]byte{0xDF, 0xFF, 0xFF, 0xFE}, 268435455}, {[]byte{0xC0, 0x00, 0x00, 0x01}, -268435456},
	} {
		v, n := uncompressSigned(c.b)
		assert.Equal(t, c.v, v)
		assert.Equal(t, len(c.b), n)
	}
	_, n := uncompress([]byte{0xFF, 0, 0, 0})
	assert.Zero(t, n)
}

func rowsOf(r RowRange) (out []uint32) {
	for rid := range r.All() {
		out = append(out, rid)
	}
	return out
}

// TestConcurrent builds the lazy indexes from several goroutines; it is for the
// race detector.
func TestConcurrent(t *testing.T) {
	w := zoo()
	w.sorted = 0
	md := w.open(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_, ok := md.FindTypeDef("Zoo.Animal+Cage+Lock")
			assert.True(t, ok)
			for _, a := range describe(md) {
				assert.NoError(t, a.err, a.what)
			}
		})
	}
	wg.Wait()
}
