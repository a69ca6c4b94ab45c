package answer

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{
		"":                 `""`,
		`say "hi" \ bye`:   `"say \"hi\" \\ bye"`,
		"a\tb\nc":          `"a\tb\nc"`,
		"\x1b[31m":         `"\x1b[31m"`,
		"grüße 你好 𝄞":       `"grüße 你好 𝄞"`,
		"\u202eevil\u200b": `"\u202eevil\u200b"`,
	} {
		assert.Equal(t, want, Quote(s))
	}
}

// TestLineCut cuts the strings of a line where UTF-16 code units end, and never
// in the middle of a character.
func TestLineCut(t *testing.T) {
	l := append(append(Words("{Name="), Quoted("a𝄞b", 4)...), Words(", N=5}")...)
	for limit, want := range map[int]string{
		-1: `{Name="a𝄞b", N=5}`,
		4:  `{Name="a𝄞b", N=5}`,
		3:  `{Name="a𝄞"… (4 characters), N=5}`,
		2:  `{Name="a"… (4 characters), N=5}`,
		0:  `{Name=""… (4 characters), N=5}`,
	} {
		assert.Equal(t, want, l.Cut(limit), limit)
	}
	assert.Equal(t, `"ab"… (100 characters)`, Quoted("ab", 100).String())
	assert.Empty(t, Words(""))
	assert.Empty(t, Line(nil).String())
}

// TestValueJSON holds what JSON has for a value of each kind.
func TestValueJSON(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Value{}, "null"},
		{Value{Kind: KindBool, Size: 1, Bits: 1}, "true"},
		{Value{Kind: KindChar, Size: 2, Bits: 65}, "65"},
		{Value{Kind: KindInt, Size: 2, Bits: 0xfffe}, "-2"},
		{Value{Kind: KindUint, Size: 8, Bits: math.MaxUint64}, `"18446744073709551615"`},
		{Value{Kind: KindFloat, Size: 4, Bits: uint64(math.Float32bits(0.1))}, "0.1"},
		{Value{Kind: KindFloat, Size: 8, Bits: math.Float64bits(math.Inf(-1))}, `"-Inf"`},
		{Value{Kind: KindReference, Size: 8}, "null"},
		{Value{Kind: KindReference, Size: 8, Bits: 0x7f00}, `"0x7f00"`},
		{Value{Kind: KindPointer, Size: 8}, `"0x0"`},
		{Value{Kind: KindStruct, At: 0x10}, `"0x10"`},
	} {
		got, err := json.Marshal(c.v)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got), c.v.Kind)
	}
}

// TestStoredJSON: what is missing is left out, a null reference is not.
func TestStoredJSON(t *testing.T) {
	got, err := json.Marshal([]Stored{{Missing: Reason{target.ErrCorrupt}}, {Value: Value{Kind: KindReference, Size: 8}}})
	require.NoError(t, err)
	assert.Equal(t, `[{"missing":"corrupt data"},{"value":null}]`, string(got))
}

// TestLineMissing: words for what is missing in a line are for people alone.
func TestLineMissing(t *testing.T) {
	l := append(Words("{X="), Lacking(target.ErrNotInDump)...)
	l = append(l, Words("}")...)
	assert.Equal(t, "{X=<not in dump>}", l.String())
	assert.ErrorIs(t, l.Err(), target.ErrNotInDump)
	assert.False(t, l.Blank())
	assert.True(t, Missing(target.ErrCorrupt).Blank())
	got, err := json.Marshal([]Line{l, Missing(target.ErrCorrupt), Words("a")})
	require.NoError(t, err)
	assert.Equal(t, `[null,null,"a"]`, string(got))
	got, err = Words("List<int>").MarshalJSON()
	require.NoError(t, err)
	assert.Equal(t, `"List<int>"`, string(got))
}
