package metadata

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// zooNames resolves tokens of zoo, two generic arguments and one type handle.
type zooNames struct{ Resolver }

func (zooNames) Var(n uint32) string {
	if n == 0 {
		return "System.__Canon"
	}
	return ""
}

func (zooNames) MVar(uint32) string { return "" }

func (zooNames) TypeHandle(addr uint64) string {
	if addr == 0x7F00_1234_5678 {
		return "Zoo.Loaded"
	}
	return ""
}

func TestFormatType(t *testing.T) {
	const color, list, lock = 5 << 2, 4<<2 | 1, 4 << 2
	handle := []byte{0x78, 0x56, 0x34, 0x12, 0, 0x7F, 0, 0}
	cases := []struct {
		sig       []byte
		sos, ecma string
	}{
		{[]byte{0x01}, "Void", "Void"},
		{[]byte{0x02}, "Boolean", "Boolean"},
		{[]byte{0x03}, "Char", "Char"},
		{[]byte{0x04}, "SByte", "I1"},
		{[]byte{0x05}, "Byte", "U1"},
		{[]byte{0x06}, "Int16", "I2"},
		{[]byte{0x07}, "UInt16", "U2"},
		{[]byte{0x08}, "Int32", "I4"},
		{[]byte{0x09}, "UInt32", "U4"},
		{[]byte{0x0A}, "Int64", "I8"},
		{[]byte{0x0B}, "UInt64", "U8"},
		{[]byte{0x0C}, "Single", "R4"},
		{[]byte{0x0D}, "Double", "R8"},
		{[]byte{0x0E}, "System.String", "String"},
		{[]byte{0x16}, "TypedReference", "TypedReference"},
		{[]byte{0x18}, "IntPtr", "IntPtr"},
		{[]byte{0x19}, "UIntPtr", "UIntPtr"},
		{[]byte{0x1C}, "System.Object", "Object"},
		{[]byte{0x11, color}, "Zoo.Color", "ValueType Zoo.Color"},
		{[]byte{0x12, lock}, "Lock", "Class Lock"}, // nested: its own name only
		{[]byte{0x0F, 0x0F, 0x01}, "Void**", "Ptr Ptr Void"},
		{[]byte{0x10, 0x08}, "Int32 ByRef", "ByRef I4"},
		{[]byte{0x1D, 0x1D, 0x0E}, "System.String[][]", "SZArray SZArray String"},
		{[]byte{0x14, 0x08, 3, 1, 4, 2, 0, 0x7B}, "Int32[,,]", "MDArray I4 3 1 4 2 0 -3"},
		{[]byte{0x14, 0x08, 1, 0, 0}, "Int32[]", "MDArray I4 1 0 0"},
		{[]byte{0x13, 0}, "System.__Canon", "System.__Canon"},
		{[]byte{0x13, 1}, "!1", "!1"},
		{[]byte{0x1E, 2}, "!!2", "!!2"},
		{[]byte{0x15, 0x12, list, 2, 0x0E, 0x08}, "System.List`1<System.String,Int32>", "Class System.List`1<String,I4>"},
		{[]byte{0x1B, 0x00, 2, 0x08, 0x18, 0x18}, "Int32 (IntPtr, IntPtr)", "FNPTR [DEFAULT] I4(IntPtr,IntPtr)"},
		{[]byte{0x1B, 0x05, 0, 0x01}, "Void (...)", "FNPTR [VARARG] Void()"},
		{[]byte{0x1F, list, 0x08}, "Int32", "CMOD_REQD System.List`1 I4"},
		{[]byte{0x20, list, 0x10, 0x08}, "Int32 ByRef", "CMOD_OPT System.List`1 ByRef I4"},
		{[]byte{0x45, 0x0E}, "System.String", "PINNED String"},
		{append([]byte{0x21}, handle...), "Zoo.Loaded", "Internal Zoo.Loaded"},
		{[]byte{0x21, 0, 0, 0, 0, 0, 0, 0, 0}, unknownType, "Internal " + unknownType},
		{slices.Concat([]byte{0x22, 1}, handle, []byte{0x08}), "Int32", "CMOD_REQD Zoo.Loaded I4"},
	}
	names := zooNames{zoo().open(t).Names()}
	for _, c := range cases {
		ts, err := ParseTypeSpec(c.sig)
		require.NoError(t, err, c.sos)
		assert.Equal(t, c.sos, FormatType(&ts, names))
		assert.Equal(t, c.ecma, FormatTypeECMA(&ts, names))
	}
}

func TestFormatMethod(t *testing.T) {
	cases := []struct {
		name      string
		sig       []byte
		sos, ecma string
	}{
		{"Zoo.Animal.Feed", []byte{0x20, 2, 0x02, 0x1D, 0x0E, 0x10, 0x11, 5 << 2},
			"Zoo.Animal.Feed(System.String[], Zoo.Color ByRef)",
			"[DEFAULT] [hasThis] Boolean Zoo.Animal.Feed(SZArray String,ByRef ValueType Zoo.Color)"},
		{"F", []byte{0x00, 0, 0x01}, "F()", "[DEFAULT] Void F()"},
		{"G", []byte{0x30, 1, 1, 0x01, 0x1E, 0}, "G(!!0)", "[DEFAULT] [hasThis] [generic:1] Void G(!!0)"},
		{"V", []byte{0x05, 1, 0x01, 0x08}, "V(Int32, ...)", "[VARARG] Void V(I4)"},
		{"V", []byte{0x05, 2, 0x01, 0x08, 0x41, 0x0E}, "V(Int32, ...)", "[VARARG] Void V(I4,<ELEMENT_TYPE_SENTINEL> String)"},
		{"", []byte{0x60, 0, 0x01}, "()", "[DEFAULT] [hasThis] [explicit] Void()"},
	}
	names := zoo().open(t).Names()
	for _, c := range cases {
		m, err := ParseMethodSig(c.sig)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.sos, FormatMethod(c.name, &m, names))
		assert.Equal(t, c.ecma, FormatMethodECMA(c.name, &m, names))
	}
}

func TestOtherSignatures(t *testing.T) {
	locals, err := ParseLocalSig([]byte{0x07, 2, 0x08, 0x45, 0x10, 0x05})
	require.NoError(t, err)
	require.Len(t, locals, 2)
	assert.Equal(t, ElementPinned, locals[1].Kind)
	assert.Equal(t, ElementByRef, locals[1].Unmodified().Kind)

	args, err := ParseMethodSpec([]byte{0x0A, 1, 0x0E})
	require.NoError(t, err)
	require.Len(t, args, 1)
	assert.Equal(t, ElementString, args[0].Kind)

	field, err := ParseFieldSig([]byte{0x06, 0x1F, 0x05, 0x08})
	require.NoError(t, err)
	assert.Equal(t, ElementI4, field.Unmodified().Kind)

	generic, err := ParseMethodSig([]byte{0x10, 2, 0, 0x01})
	require.NoError(t, err)
	assert.EqualValues(t, 2, generic.GenericParams)
	assert.Equal(t, -1, generic.Sentinel)
}

func TestCorruptSignatures(t *testing.T) {
	typeCases := map[string][]byte{
		"empty":            nil,
		"no element type":  {0x17},
		"end":              {0x00},
		"too long":         {0x08, 0x08},
		"token tag":        {0x12, 0x03},
		"token missing":    {0x12},
		"no element":       {0x1D},
		"rank 0":           {0x14, 0x08, 0, 0, 0},
		"rank 33":          {0x14, 0x08, 33, 0, 0},
		"sizes":            {0x14, 0x08, 1, 2, 1, 1, 0},
		"bounds":           {0x14, 0x08, 1, 0, 0x7F},
		"generic count":    {0x15, 0x12, 4, 0x7F, 0x08},
		"generic too few":  {0x15, 0x12, 4, 2, 0x08},
		"handle":           {0x21, 1, 2, 3},
		"modifier handle":  {0x22, 1, 2},
		"function pointer": {0x1B, 0x06, 0, 0x01},
		"deep":             append(slices.Repeat([]byte{0x0F}, limits.SignatureDepth+1), 0x08),
		"deeper":           slices.Repeat([]byte{0x0F}, 1<<20),
		"wide and deep":    slices.Repeat([]byte{0x1B, 0x00, 0xC0, 0x00, 0x10, 0x00}, 1<<12),
	}
	for name, b := range typeCases {
		ts, err := ParseTypeSpec(b)
		want := target.ErrCorrupt
		if strings.Contains(name, "deep") {
			want = target.ErrLimit
		}
		assert.ErrorIs(t, err, want, name)
		assert.Zero(t, ts, name)
	}
	deep := append(slices.Repeat([]byte{0x0F}, limits.SignatureDepth), 0x08)
	_, err := ParseTypeSpec(deep)
	assert.NoError(t, err)

	_, err = ParseMethodSig([]byte{0x00, 0xDF, 0xFF, 0xFF, 0xFF, 0x01})
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = ParseMethodSig([]byte{0x06, 0x08})
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = ParseFieldSig([]byte{0x00, 0x08})
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = ParseLocalSig([]byte{0x07, 0x7F, 0x08})
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = ParseMethodSpec([]byte{0x0A})
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func TestElementTypeString(t *testing.T) {
	assert.Equal(t, "I4", ElementI4.String())
	assert.Equal(t, "ValueType", ElementValueType.String())
	assert.Equal(t, "ElementType(0x17)", ElementType(0x17).String())
}

// TestSigSizes checks that bytes after a signature do not count.
func TestSigSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		size func([]byte) (int, error)
		sig  []byte
	}{
		{"method", MethodSigSize, []byte{0x20, 1, 1, 0x0e}},
		{"field", FieldSigSize, []byte{0x06, 0x1d, 0x08}},
		{"type", TypeSigSize, []byte{0x1d, 0x0e}},
	} {
		n, err := c.size(append(append([]byte(nil), c.sig...), 0xff, 0xff))
		if err != nil || n != len(c.sig) {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
		if _, err := c.size(c.sig[:len(c.sig)-1]); err == nil {
			t.Errorf("%s: cut signature has a size", c.name)
		}
	}
}
