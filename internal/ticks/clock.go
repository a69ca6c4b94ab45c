package ticks

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// A Clock finds out what the time was, on the clock that starts with the machine and counts milliseconds
// (Environment.TickCount64): no dump has it, but what the process noted is not later. Some notes are of its lower 32 bits.
type Clock struct {
	newest int64
	any    bool
	narrow []uint32
}

// Note64 records a time, which is 0 or was not read (err) where there was none.
func (c *Clock) Note64(ms int64, err error) {
	if err == nil && ms > 0 && (!c.any || ms > c.newest) {
		c.newest, c.any = ms, true
	}
}

// Note32 is Note64 for a time of which ms has the lower 32 bits.
func (c *Clock) Note32(ms int64, err error) {
	if err == nil && ms != 0 {
		c.narrow = append(c.narrow, uint32(ms))
	}
}

// Widen returns a time of 32 bits as one of 64: the one next to the newest that is known.
func (c *Clock) Widen(ms uint32) int64 {
	if !c.any {
		return int64(ms)
	}
	return c.newest + int64(int32(ms-uint32(c.newest)))
}

// Now returns the newest time that was noted, in milliseconds; target.ErrNotInDump if none was.
func (c *Clock) Now() answer.Maybe[int64] {
	for _, ms := range c.narrow {
		c.Note64(c.Widen(ms), nil)
	}
	c.narrow = nil
	if !c.any {
		return answer.Maybe[int64]{Err: fmt.Errorf("the time of the dump: %w", target.ErrNotInDump)}
	}
	return answer.Known(c.newest)
}
