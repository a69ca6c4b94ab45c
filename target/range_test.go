package target_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// TestRangeAt checks ranges at the end of the address space.
func TestRangeAt(t *testing.T) {
	const last = target.Addr(math.MaxUint64)
	for _, tt := range []struct {
		start target.Addr
		size  uint64
		end   target.Addr
	}{
		{0, 0, 0}, {0x1000, 0x10, 0x1010}, {0, math.MaxUint64, last}, {last - 0xfff, 0xfff, last}, {last - 0xfff, 0x1000, last},
		{last - 0xfff, math.MaxUint64, last}, {last, 1, last}, {last, 0, last}, {1, math.MaxUint64, last},
	} {
		r := target.RangeAt(tt.start, tt.size)
		assert.Equal(t, target.Range{Start: tt.start, End: tt.end}, r)
		assert.LessOrEqual(t, r.Size(), tt.size)
	}
}
