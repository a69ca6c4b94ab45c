package metadata_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/metadata"
)

// TestIntegerBits checks that a negative constant is compared in its own size, without sign extension.
func TestIntegerBits(t *testing.T) {
	for _, tc := range []struct {
		constant any
		want     uint64
	}{
		{true, 1}, {false, 0}, {metadata.Char('x'), 'x'}, {int8(-1), 0xff}, {uint8(200), 200}, {int16(-2), 0xfffe}, {uint16(7), 7},
		{int32(-1), 0xffffffff}, {uint32(9), 9}, {int64(-1), ^uint64(0)}, {^uint64(0), ^uint64(0)},
	} {
		got, ok := metadata.IntegerBits(tc.constant)
		assert.True(t, ok, "%T", tc.constant)
		assert.Equal(t, tc.want, got, "%T", tc.constant)
	}
	for _, none := range []any{"text", 1.5, nil} {
		_, ok := metadata.IntegerBits(none)
		assert.False(t, ok, "%T is no number of an enum", none)
	}
}
