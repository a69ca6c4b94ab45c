package ticks_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/ticks"
	"github.com/sosgo/sosgo/target"
)

// TestClock: the newest note counts. 32-bit notes are extended to the closest time, also when the
// counter wraps.
func TestClock(t *testing.T) {
	var c ticks.Clock
	assert.ErrorIs(t, c.Now().Err(), target.ErrNotInDump)
	c.Note64(0x1_0000_0010, nil)
	c.Note64(0x9_0000_0000, errors.New("not read"))
	assert.EqualValues(t, int64(0x1_0000_0010), c.Now().Value)
	assert.EqualValues(t, int64(0xffff_fff0), c.Widen(0xffff_fff0))
	c.Note32(int64(int32(0x20)), nil)
	assert.EqualValues(t, int64(0x1_0000_0020), c.Now().Value)
	var narrow ticks.Clock
	narrow.Note32(-16, nil)
	assert.EqualValues(t, int64(0xffff_fff0), narrow.Now().Value)
}
