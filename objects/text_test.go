package objects

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/metadata"
)

func encode(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// TestUTF16Pieces decodes texts cut at every place.
func TestUTF16Pieces(t *testing.T) {
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
			d := utf16Decoder{emit: func(b []byte) error { out.Write(b); return nil }}
			require.NoError(t, d.piece(c.raw[:cut]))
			require.NoError(t, d.piece(c.raw[cut:]))
			require.NoError(t, d.finish(false))
			assert.Equal(t, c.want, out.String(), "%s cut at %d", c.name, cut)
		}
	}
}

func TestEnumFormat(t *testing.T) {
	rights := Enum{Underlying: metadata.ElementI4, Flags: true, Members: []EnumMember{
		{"None", 0}, {"Read", 1}, {"Write", 2}, {"Execute", 4}, {"ReadWrite", 3},
	}}
	for bits, want := range map[uint64]string{0: "None", 1: "Read", 3: "ReadWrite", 5: "Read, Execute", 7: "ReadWrite, Execute", 9: "9", 0xffffffff: "-1"} {
		assert.Equal(t, want, rights.Format(bits))
	}
	color := Enum{Underlying: metadata.ElementU1, Members: []EnumMember{{"Red", 1}, {"Green", 2}}}
	for bits, want := range map[uint64]string{1: "Red", 3: "3", 200: "200", 0: "0"} {
		assert.Equal(t, want, color.Format(bits))
	}
}

func TestFormatTicks(t *testing.T) {
	for ticks, want := range map[int64]string{
		0:                    "00:00:00",
		54_300_000_000:       "01:30:30",
		-1:                   "-00:00:00.0000001",
		864_000_000_000:      "1.00:00:00",
		-9223372036854775808: "-10675199.02:48:05.4775808",
	} {
		assert.Equal(t, want, formatTicks(ticks))
	}
}

func TestFieldLabel(t *testing.T) {
	for name, want := range map[string]string{
		"_name": "_name", "<Age>k__BackingField": "Age", "<Name>i__Field": "Name", "<>1__state": "<>1__state",
	} {
		assert.Equal(t, want, FieldLabel(name))
	}
}
