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

// TestClocks: where timers skip the time for which the machine slept, a time of Environment.TickCount64 says nothing about theirs.
func TestClocks(t *testing.T) {
	for os, timers := range map[target.OS]int64{target.OSWindows: 1000, target.OSLinux: 9000} {
		c := ticks.NewClocks(target.Platform{OS: os})
		c.NoteTimer(1000, nil)
		m := c.Now()
		assert.EqualValues(t, 1000, m.Ticks.Value, os)
		c.Ticks.Note64(9000, nil)
		m = c.Now()
		assert.EqualValues(t, 9000, m.Ticks.Value, os)
		assert.Equal(t, timers, m.Timers.Value, os)
		m.Note(9500)
		assert.Equal(t, m.Same, m.Ticks.Value == 9500, os)
		assert.Equal(t, m.Same, m.Timers.Value == 9500, os)
	}
}

// TestAfter: a stamp after the newest known time is younger than that, and one of 16 bits has an age only where the time of the dump is nearly known.
func TestAfter(t *testing.T) {
	for _, c := range []struct {
		stamp     uint32
		bits      int
		now, late int64
		want      int64
		ok        bool
	}{
		{1000, 32, 13000, 0, 12000, true},
		{13500, 32, 13000, 0, 0, true},
		{0xffff_ff00, 32, 0x1_0000_0100, 0, 0x200, true},
		{0x100, 32, 0x5_0000_0900, 1 << 31, 0, false},
		{0x100, 16, 0x5_0000_0900, 500, 0x800, true},
		{0x0a00, 16, 0x5_0000_0900, 500, 0, true},
		{0x0a00, 16, 0x5_0000_0900, 100, 0xff00, true}, // it is not later
		{0x100, 16, 0x5_0000_0900, 40_000, 0, false},
	} {
		least, ok := ticks.After(c.stamp, c.bits, c.now, c.late)
		assert.Equal(t, c.want, least, c)
		assert.Equal(t, c.ok, ok, c)
	}
}
