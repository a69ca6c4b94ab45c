package metadata

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func ser(s string) []byte { return append([]byte{byte(len(s))}, s...) }

// attributed returns zoo with an attribute. Its constructor has the parameters of sig and its value is the
// blob.
func attributed(params []byte, n byte, value []byte) (*builder, CustomAttributeRow) {
	w := zoo()
	sig := w.blob(append([]byte{0x20, n, 0x01}, params...)...)
	w.row(TableMemberRef, uint16(1<<3|1), w.str(".ctor"), sig)
	return w, CustomAttributeRow{
		Parent: NewToken(TableTypeDef, 2), Type: NewToken(TableMemberRef, 2),
		Value: BlobIndex(w.blob(value...)),
	}
}

type folders struct{}

func (folders) Enum(t Token) (ElementType, bool) { return ElementI4, t == NewToken(TableTypeRef, 3) }

func (folders) EnumByName(name string) (ElementType, bool) {
	return ElementI2, name == "System.DayOfWeek, System.Runtime"
}

func TestAttributeValue(t *testing.T) {
	cases := map[string]struct {
		params []byte
		n      byte
		value  []byte
		want   Attribute
	}{
		"none":       {nil, 0, []byte{1, 0, 0, 0}, Attribute{}},
		"empty blob": {nil, 0, nil, Attribute{}},
		"primitives": {
			[]byte{0x02, 0x03, 0x04, 0x0A, 0x0D}, 5,
			slices.Concat([]byte{1, 0, 1, 'x', 0, 0xFF}, []byte{2, 0, 0, 0, 0, 0, 0, 0x80}, []byte{0, 0, 0, 0, 0, 0, 0x04, 0x40}, []byte{0, 0}),
			Attribute{Fixed: []any{true, Char('x'), int8(-1), int64(-9223372036854775806), 2.5}},
		},
		"strings and types": {
			[]byte{0x0E, 0x0E, 0x12, 1<<2 | 1, 0x12, 1<<2 | 1}, 4,
			slices.Concat([]byte{1, 0}, ser("hi"), []byte{0xFF}, ser("Zoo.Animal"), []byte{0xFF}, []byte{0, 0}),
			Attribute{Fixed: []any{"hi", nil, TypeName("Zoo.Animal"), nil}},
		},
		"enums": {
			[]byte{0x11, 5 << 2, 0x11, 3<<2 | 1}, 2,
			[]byte{1, 0, 9, 7, 0, 0, 0, 0, 0},
			Attribute{Fixed: []any{uint8(9), int32(7)}},
		},
		"arrays and boxes": {
			[]byte{0x1D, 0x08, 0x1D, 0x0E, 0x1C}, 3,
			slices.Concat([]byte{1, 0, 1, 0, 0, 0, 5, 0, 0, 0}, []byte{0xFF, 0xFF, 0xFF, 0xFF}, []byte{0x1D, 0x51, 2, 0, 0, 0, 0x08, 1, 0, 0, 0}, []byte{0x0E}, ser("in"), []byte{0, 0}),
			Attribute{Fixed: []any{[]any{int32(5)}, nil, []any{int32(1), "in"}}},
		},
		"named": {
			nil, 0,
			slices.Concat([]byte{1, 0, 3, 0, 0x53, 0x08}, ser("Legs"), []byte{4, 0, 0, 0},
				[]byte{0x54, 0x55}, ser("Zoo.Color"), ser("Color"), []byte{3},
				[]byte{0x54, 0x55}, ser("System.DayOfWeek, System.Runtime"), ser("Day"), []byte{6, 0}),
			Attribute{Named: []NamedArgument{
				{Name: "Legs", Field: true, Value: int32(4)}, {Name: "Color", Value: uint8(3)}, {Name: "Day", Value: int16(6)},
			}},
		},
	}
	for name, c := range cases {
		w, row := attributed(c.params, c.n, c.value)
		got, err := w.open(t).AttributeValue(row, folders{})
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
}

func TestGenericAttribute(t *testing.T) {
	w, row := attributed([]byte{0x13, 0}, 1, slices.Concat([]byte{1, 0}, ser("T"), []byte{0, 0}))
	sig := w.blob(0x20, 1, 0x01, 0x13, 0)
	w.row(TableMemberRef, uint16(1<<3|4), w.str(".ctor"), sig) // of TypeSpec List<string>
	row.Type = NewToken(TableMemberRef, 3)
	md := w.open(t)
	got, err := md.AttributeValue(row, nil)
	require.NoError(t, err)
	assert.Equal(t, []any{"T"}, got.Fixed)
	class, err := md.AttributeType(row)
	require.NoError(t, err)
	assert.Equal(t, NewToken(TableTypeSpec, 1), class)
	class, err = md.AttributeType(CustomAttributeRow{Type: NewToken(TableMethodDef, 1)})
	require.NoError(t, err)
	assert.Equal(t, NewToken(TableTypeDef, 2), class)
}

func TestCorruptAttributes(t *testing.T) {
	cases := map[string]struct {
		params []byte
		n      byte
		value  []byte
		want   error
	}{
		"prolog":        {nil, 0, []byte{2, 0, 0, 0}, target.ErrCorrupt},
		"short":         {[]byte{0x08}, 1, []byte{1, 0, 1}, target.ErrCorrupt},
		"no named":      {nil, 0, []byte{1, 0}, target.ErrCorrupt},
		"named kind":    {nil, 0, []byte{1, 0, 1, 0, 0x50, 0x08, 0}, target.ErrCorrupt},
		"named type":    {nil, 0, []byte{1, 0, 1, 0, 0x53, 0x01, 0}, target.ErrCorrupt},
		"array count":   {[]byte{0x1D, 0x08}, 1, []byte{1, 0, 0xFE, 0xFF, 0xFF, 0xFF}, target.ErrCorrupt},
		"string length": {[]byte{0x0E}, 1, []byte{1, 0, 0x7F, 'x'}, target.ErrCorrupt},
		"parameter":     {[]byte{0x0F, 0x08}, 1, []byte{1, 0, 0, 0}, target.ErrCorrupt},
		"boxes":         {[]byte{0x1C}, 1, append([]byte{1, 0}, slices.Repeat([]byte{0x51}, 100)...), target.ErrCorrupt},
		"enum":          {[]byte{0x11, 3<<2 | 1}, 1, []byte{1, 0, 0, 0, 0, 0, 0, 0}, target.ErrUnsupported},
		"named enum":    {nil, 0, slices.Concat([]byte{1, 0, 1, 0, 0x53, 0x55}, ser("Far"), ser("F"), []byte{1}), target.ErrUnsupported},
		"no enum":       {[]byte{0x11, 3 << 2}, 1, []byte{1, 0, 0, 0}, target.ErrCorrupt},
	}
	for name, c := range cases {
		w, row := attributed(c.params, c.n, c.value)
		_, err := w.open(t).AttributeValue(row, nil)
		assert.ErrorIs(t, err, c.want, name)
		assert.NotEmpty(t, err.Error())
	}
}

func TestConstants(t *testing.T) {
	for _, c := range []struct {
		typ  ElementType
		b    []byte
		want any
	}{
		{ElementBoolean, []byte{1}, true}, {ElementChar, []byte{'a', 0}, Char('a')},
		{ElementI1, []byte{0xFF}, int8(-1)}, {ElementU1, []byte{0xFF}, uint8(255)},
		{ElementI2, []byte{0xFF, 0xFF}, int16(-1)}, {ElementU2, []byte{0xFF, 0xFF}, uint16(65535)},
		{ElementI4, []byte{1, 0, 0, 0x80}, int32(-2147483647)}, {ElementU4, []byte{1, 0, 0, 0x80}, uint32(0x80000001)},
		{ElementI8, []byte{1, 0, 0, 0, 0, 0, 0, 0}, int64(1)}, {ElementU8, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, uint64(1 << 63)},
		{ElementR4, []byte{0, 0, 0x20, 0x40}, float32(2.5)}, {ElementR8, []byte{0, 0, 0, 0, 0, 0, 0x04, 0x40}, 2.5},
		{ElementString, []byte{'h', 0, 0xE9, 0}, "hé"}, {ElementString, nil, ""},
		{ElementClass, []byte{0, 0, 0, 0}, nil},
	} {
		got, err := decodeConstant(c.typ, c.b)
		require.NoError(t, err, c.typ)
		assert.Equal(t, c.want, got)
	}
	for _, c := range []struct {
		typ ElementType
		b   []byte
	}{{ElementI4, []byte{1}}, {ElementString, []byte{1}}, {ElementObject, nil}} {
		_, err := decodeConstant(c.typ, c.b)
		assert.ErrorIs(t, err, target.ErrCorrupt)
	}
}
