package utf16text_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/encoding/utf16text"
)

// Decode a text in two pieces.
func Example() {
	d := utf16text.Decoder{Emit: func(b []byte) error { _, err := os.Stdout.Write(b); return err }}
	fmt.Println(d.Piece([]byte{'a', 0, 0x34, 0xd8}), d.Piece([]byte{0x1e, 0xdd}), d.Finish(false))
	// Output: a𝄞<nil> <nil> <nil>
}

func encode(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// TestPieces decodes texts that are split at every position.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"plain", encode("abc"), "abc"},
		{"wide", encode("aß你𝄞z"), "aß你𝄞z"},
		{"lone high", []byte{0x34, 0xd8, 'a', 0}, "\xed\xa0\xb4a"},
		{"lone low", []byte{0x1e, 0xdd, 'a', 0}, "\xed\xb4\x9ea"},
		{"wrong order", []byte{0x1e, 0xdd, 0x34, 0xd8}, "\xed\xb4\x9e\xed\xa0\xb4"},
		{"replacement", []byte{0xfd, 0xff}, "\ufffd"},
		{"two high", []byte{0x34, 0xd8, 0x34, 0xd8, 0x1e, 0xdd}, "\xed\xa0\xb4𝄞"},
		{"high at the end", []byte{'a', 0, 0x34, 0xd8}, "a\xed\xa0\xb4"},
		{"empty", nil, ""},
	} {
		for cut := 0; cut <= len(c.raw); cut += 2 {
			var out strings.Builder
			d := utf16text.Decoder{Emit: func(b []byte) error { out.Write(b); return nil }}
			require.NoError(t, d.Piece(c.raw[:cut]))
			require.NoError(t, d.Piece(c.raw[cut:]))
			require.NoError(t, d.Finish(false))
			assert.Equal(t, c.want, out.String(), "%s cut at %d", c.name, cut)
		}
	}
}

// TestCut: for a text that was cut within a pair, no character is made up.
func TestCut(t *testing.T) {
	var out strings.Builder
	d := utf16text.Decoder{Emit: func(b []byte) error { out.Write(b); return nil }}
	require.NoError(t, d.Piece([]byte{'a', 0, 0x34, 0xd8}))
	require.NoError(t, d.Finish(true))
	assert.Equal(t, "a", out.String())
}

// FuzzPieces: a text in two pieces decodes like the whole text, converts back to the same code
// units, and equals the standard library's result except for lone surrogates.
func FuzzPieces(f *testing.F) {
	f.Add(encode("aß你𝄞z"), 5)
	f.Add([]byte{0x34, 0xd8, 0x34, 0xd8, 0x1e, 0xdd, 0x34, 0xd8}, 2)
	f.Add([]byte{0x1e, 0xdd, 0xfd, 0xff, 0x34, 0xd8}, 2)
	f.Fuzz(func(t *testing.T, raw []byte, cut int) {
		raw = raw[:len(raw)&^1]
		cut = max(0, min(len(raw), cut)) &^ 1
		units := make([]uint16, 0, len(raw)/2)
		for b := raw; len(b) > 0; b = b[2:] {
			units = append(units, binary.LittleEndian.Uint16(b))
		}
		var out strings.Builder
		d := utf16text.Decoder{Emit: func(b []byte) error { out.Write(b); return nil }}
		require.NoError(t, errors.Join(d.Piece(raw[:cut]), d.Piece(raw[cut:]), d.Finish(false)))
		text := utf16text.String(raw)
		require.Equal(t, text, out.String(), "in pieces")
		require.Equal(t, text, utf16text.FromUnits(units))
		require.Equal(t, text, utf16text.Concat(utf16text.String(raw[:cut]), utf16text.String(raw[cut:])))
		require.Equal(t, units, utf16text.Units(text))
		var replaced []rune
		for _, r := range utf16text.Runes(text) {
			replaced = append(replaced, r)
		}
		require.Equal(t, string(utf16.Decode(units)), string(replaced))
		require.True(t, utf8.ValidString(utf16text.Valid(text)))
		if utf8.ValidString(text) {
			require.Equal(t, text, utf16text.Valid(text))
		}
	})
}

// TestHalves: halves that meet become a character, others stay; a text that is cut ends before half
// a character.
func TestHalves(t *testing.T) {
	high, low := utf16text.FromUnits([]uint16{0xd834}), utf16text.FromUnits([]uint16{0xdd1e})
	assert.Equal(t, "a𝄞b", utf16text.Concat("a"+high, low+"b"))
	assert.Equal(t, low+high, utf16text.Concat(low, high))
	assert.Equal(t, `x\udd1e\ud834\ufffd`, strings.ReplaceAll(utf16text.Valid("x"+low+high+"\xff"), "\ufffd", `\ufffd`))
	assert.Equal(t, []byte{'a', 0}, utf16text.WholeEnd([]byte{'a', 0, 0x34, 0xd8}))
	assert.Equal(t, []byte{0x1e, 0xdd}, utf16text.WholeEnd([]byte{0x1e, 0xdd}))
	assert.Empty(t, utf16text.WholeEnd(nil))
	for _, s := range []string{"", "\xed", "\xed\xa0", "\xed\x9f\xbf", "\xed\xa0a", "\xff\x80\x80"} {
		r, n := utf16text.DecodeRune(s)
		wantRune, wantSize := utf8.DecodeRuneInString(s)
		assert.Equal(t, wantRune, r, "%q", s)
		assert.Equal(t, wantSize, n, "%q", s)
	}
}

// BenchmarkString decodes texts outside of ASCII.
func BenchmarkString(b *testing.B) {
	for name, s := range map[string]string{"latin": "aß", "cjk": "你好", "pairs": "𝄞a"} {
		b.Run(name, func(b *testing.B) {
			raw := encode(strings.Repeat(s, 40))
			b.ReportAllocs()
			for b.Loop() {
				_ = utf16text.String(raw)
			}
		})
	}
}
