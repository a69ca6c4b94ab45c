package answer_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
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
		assert.Equal(t, want, answer.Quote(s))
	}
}

// TestLineCut checks that the strings of a line are cut by UTF-16 code units, but never inside a character.
func TestLineCut(t *testing.T) {
	l := append(append(answer.Words("{Name="), answer.Quoted("a𝄞b", 4)...), answer.Words(", N=5}")...)
	for limit, want := range map[int]string{
		-1: `{Name="a𝄞b", N=5}`,
		4:  `{Name="a𝄞b", N=5}`,
		3:  `{Name="a𝄞"… (4 characters), N=5}`,
		2:  `{Name="a"… (4 characters), N=5}`,
		0:  `{Name=""… (4 characters), N=5}`,
	} {
		assert.Equal(t, want, l.Cut(limit), limit)
	}
	assert.Equal(t, `"ab"… (100 characters)`, answer.Quoted("ab", 100).String())
	assert.Empty(t, answer.Words(""))
	assert.Empty(t, answer.Line(nil).String())
}

// TestValueJSON checks the JSON of a value of each kind.
func TestValueJSON(t *testing.T) {
	for _, c := range []struct {
		v    answer.Value
		want string
	}{
		{answer.Value{}, "null"},
		{answer.Value{Kind: answer.KindBool, Size: 1, Bits: 1}, "true"},
		{answer.Value{Kind: answer.KindChar, Size: 2, Bits: 65}, "65"},
		{answer.Value{Kind: answer.KindInt, Size: 2, Bits: 0xfffe}, "-2"},
		{answer.Value{Kind: answer.KindUint, Size: 8, Bits: math.MaxUint64}, `"18446744073709551615"`},
		{answer.Value{Kind: answer.KindFloat, Size: 4, Bits: uint64(math.Float32bits(0.1))}, "0.1"},
		{answer.Value{Kind: answer.KindFloat, Size: 8, Bits: math.Float64bits(math.Inf(-1))}, `"-Inf"`},
		{answer.Value{Kind: answer.KindReference, Size: 8}, "null"},
		{answer.Value{Kind: answer.KindReference, Size: 8, Bits: 0x7f00}, `"0x7f00"`},
		{answer.Value{Kind: answer.KindPointer, Size: 8}, `"0x0"`},
		{answer.Value{Kind: answer.KindStruct, At: 0x10}, `"0x10"`},
	} {
		got, err := json.Marshal(c.v)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(got), c.v.Kind)
	}
}

// TestStoredJSON checks that JSON omits a missing value, but not a null reference.
func TestStoredJSON(t *testing.T) {
	got, err := json.Marshal([]answer.Stored{{Missing: answer.Reason{target.ErrCorrupt}}, {Value: answer.Value{Kind: answer.KindReference, Size: 8}}})
	require.NoError(t, err)
	assert.Equal(t, `[{"missing":"corrupt data"},{"value":null}]`, string(got))
}

// TestLineMissing checks that only text, and not JSON, has words for missing parts of a line.
func TestLineMissing(t *testing.T) {
	l := append(answer.Words("{X="), answer.LinePiece{Text: answer.Absent(target.ErrNotInDump), Err: target.ErrNotInDump})
	l = append(l, answer.Words("}")...)
	assert.Equal(t, "{X=<not in dump>}", l.String())
	assert.ErrorIs(t, l.Err(), target.ErrNotInDump)
	assert.False(t, l.Blank())
	missing := answer.Line{{Err: target.ErrCorrupt}}
	assert.True(t, missing.Blank())
	got, err := json.Marshal([]answer.Line{l, missing, answer.Words("a")})
	require.NoError(t, err)
	assert.Equal(t, `[null,null,"a"]`, string(got))
	got, err = answer.Words("List<int>").MarshalJSON()
	require.NoError(t, err)
	assert.Equal(t, `"List<int>"`, string(got))
}
