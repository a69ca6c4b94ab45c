package ticks

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// A Clock estimates the current value of the clock that counts milliseconds since boot
// (Environment.TickCount64). Dumps don't store it, but it is at least the latest time that the
// process recorded. Some records hold only its lower 32 bits.
type Clock struct {
	newest int64
	any    bool
	narrow []uint32
}

// Note64 records a time. It ignores a time of 0, and a time that could not be read (err).
func (c *Clock) Note64(ms int64, err error) {
	if err == nil && ms > 0 && (!c.any || ms > c.newest) {
		c.newest, c.any = ms, true
	}
}

// Note32 is Note64 for the lower 32 bits of a time.
func (c *Clock) Note32(ms int64, err error) {
	if err == nil && ms != 0 {
		c.narrow = append(c.narrow, uint32(ms))
	}
}

// Widen extends a 32-bit time to the 64-bit time closest to the newest known one.
func (c *Clock) Widen(ms uint32) int64 {
	if !c.any {
		return int64(ms)
	}
	return c.newest + int64(int32(ms-uint32(c.newest)))
}

// Now returns the newest recorded time in milliseconds, or target.ErrNotInDump if no time was recorded.
func (c *Clock) Now() answer.Maybe[int64] {
	for _, ms := range c.narrow {
		c.Note64(c.Widen(ms), nil)
	}
	c.narrow = nil
	if !c.any {
		return answer.Missing[int64](fmt.Errorf("the time of the dump: %w", target.ErrNotInDump))
	}
	return answer.Known(c.newest)
}

// A Moment is the time of a dump by two clocks, as far as the process has noted it.
type Moment struct {
	Ticks  answer.Maybe[int64] // of Environment.TickCount64
	Timers answer.Maybe[int64] // of the timers
	Same   bool                // they are one clock
}

// Note moves the moment to a later time of both clocks, if they are one.
func (m *Moment) Note(ms int64) {
	if m.Same && m.Ticks.Err() == nil && ms > m.Ticks.Value {
		m.Ticks.Value, m.Timers.Value = ms, ms
	}
}

// Clocks are the clock of Environment.TickCount64 and the timers' clock, which is behind it by the time for which the machine has slept, where timers
// skip that.
type Clocks struct{ Ticks, Timers *Clock }

// NewClocks returns the clocks of a process on a platform.
func NewClocks(p target.Platform) Clocks {
	c := Clocks{Ticks: &Clock{}}
	if c.Timers = c.Ticks; p.TimersSkipSleep() {
		c.Timers = &Clock{}
	}
	return c
}

// NoteTimer records a time of the timers' clock. The other one is not behind it.
func (c Clocks) NoteTimer(ms int64, err error) {
	c.Ticks.Note64(ms, err)
	if c.Timers != c.Ticks {
		c.Timers.Note64(ms, err)
	}
}

// Now returns the newest recorded times.
func (c Clocks) Now() Moment {
	return Moment{Ticks: c.Ticks.Now(), Timers: c.Timers.Now(), Same: c.Ticks == c.Timers}
}

// After returns how many milliseconds after a stamp a time of the clock is, at least. The stamp has only the lower bits of a time. The time of the dump is
// known to be at least now, and at most late milliseconds more. It returns 0 for a stamp that is younger than now. ok is false if late is so large that the
// stamp may be of another round of its bits.
func After(stamp uint32, bits int, now, late int64) (least int64, ok bool) {
	round := int64(1) << bits
	if late >= round/2 {
		return 0, false
	}
	d := (now - int64(stamp)) & (round - 1)
	if d >= round-late || bits == 32 && d >= round/2 {
		return 0, true
	}
	return d, true
}
