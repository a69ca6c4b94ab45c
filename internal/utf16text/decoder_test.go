package utf16text_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/utf16text"
)

// A text that was read in two pieces.
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

// TestPieces decodes texts cut at every place.
func TestPieces(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"plain", encode("abc"), "abc"},
		{"wide", encode("aß你𝄞z"), "aß你𝄞z"},
		{"lone high", []byte{0x34, 0xd8, 'a', 0}, "\ufffda"},
		{"lone low", []byte{0x1e, 0xdd, 'a', 0}, "\ufffda"},
		{"two high", []byte{0x34, 0xd8, 0x34, 0xd8, 0x1e, 0xdd}, "\ufffd𝄞"},
		{"high at the end", []byte{'a', 0, 0x34, 0xd8}, "a\ufffd"},
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

// TestCut: of a text that was cut within a pair nothing is made up.
func TestCut(t *testing.T) {
	var out strings.Builder
	d := utf16text.Decoder{Emit: func(b []byte) error { out.Write(b); return nil }}
	require.NoError(t, d.Piece([]byte{'a', 0, 0x34, 0xd8}))
	require.NoError(t, d.Finish(true))
	assert.Equal(t, "a", out.String())
}

// FuzzPieces: a text in two pieces is what it is in one, as the standard library decodes it.
func FuzzPieces(f *testing.F) {
	f.Add(encode("aß你𝄞z"), 5)
	f.Add([]byte{0x34, 0xd8, 0x34, 0xd8, 0x1e, 0xdd, 0x34, 0xd8}, 2)
	f.Fuzz(func(t *testing.T, raw []byte, cut int) {
		raw = raw[:len(raw)&^1]
		cut = max(0, min(len(raw), cut)) &^ 1
		units := make([]uint16, 0, len(raw)/2)
		for b := raw; len(b) > 0; b = b[2:] {
			units = append(units, binary.LittleEndian.Uint16(b))
		}
		var out strings.Builder
		d := utf16text.Decoder{Emit: func(b []byte) error { out.Write(b); return nil }}
		if err := errors.Join(d.Piece(raw[:cut]), d.Piece(raw[cut:]), d.Finish(false)); err != nil {
			t.Fatal(err)
		}
		if want := string(utf16.Decode(units)); out.String() != want {
			t.Fatalf("%q, and not %q", out.String(), want)
		}
	})
}
