package gcdump

import (
	"math"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/target"
)

// TestCint: numbers come back, in as few bytes as the form has for them.
func TestCint(t *testing.T) {
	numbers := []int32{0, 1, -1, math.MaxInt32, math.MinInt32}
	for shift := range 31 {
		for _, d := range []int32{-1, 0, 1} {
			numbers = append(numbers, 1<<shift+d, -(1<<shift)+d)
		}
	}
	for _, n := range numbers {
		b := appendCint(nil, n)
		require.Len(t, b, cintLength(n))
		v := int32(b[0]) << 25 >> 25
		for _, c := range b[1:] {
			v = v<<7 | int32(c&0x7f)
		}
		require.Equal(t, n, v)
		for i, c := range b {
			require.Equal(t, i < len(b)-1, c&0x80 != 0)
		}
	}
	for n, length := range map[int32]int{63: 1, -64: 1, 64: 2, -65: 2, 1<<13 - 1: 2, 1 << 13: 3, 1<<20 - 1: 3, 1 << 20: 4, 1<<27 - 1: 4, 1 << 27: 5} {
		require.Equal(t, length, cintLength(n))
	}
}

// TestString checks that names survive: controls, marks that turn the direction, markup, and characters beyond
// 16 bits with lone halves.
func TestString(t *testing.T) {
	for _, s := range []string{"", "List<System.Int32>", "</script>", "\x00\x1b[31m", "\u202egnp", "ü", "漢", "🎉\U0010ffff", "a\"b'c"} {
		b := appendString(nil, s)
		var units []uint16
		for i := 4; i < len(b); i++ {
			u := uint16(b[i])
			switch {
			case u >= 0xe0:
				u = u&0xf<<12 | uint16(b[i+1])&0x3f<<6 | uint16(b[i+2])&0x3f
				i += 2
			case u >= 0xc0:
				u = u&0x1f<<6 | uint16(b[i+1])&0x3f
				i++
			}
			units = append(units, u)
		}
		require.EqualValues(t, len(units), le.Uint32(b))
		require.Equal(t, s, string(utf16.Decode(units)))
	}
}

// TestLimits checks that sizes beyond the readers' limits are refused with a message.
func TestLimits(t *testing.T) {
	require.NoError(t, checkSize(100_000_000, 1<<30))
	require.ErrorIs(t, checkSize(1000, 1<<31), target.ErrUnsupported)
	require.ErrorIs(t, checkSize(300_000_000, 1<<30), target.ErrUnsupported)
	require.Equal(t, 0, sizeClass(999))
	require.Equal(t, 1, sizeClass(1000))
	require.Equal(t, 6, sizeClass(1<<40))
	s := &heap.Segment{Kind: heap.KindLarge, Objects: target.Range{Start: 16, End: 32}}
	require.Equal(t, [5]target.Addr{32, 32, 32, 32, 16}, generationEnds(s))
}
