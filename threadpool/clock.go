package threadpool

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

// A clock finds out what the time was, on the clock that starts with the machine and counts milliseconds
// (Environment.TickCount64): no dump has it, but what the process noted is not later. Some notes are of its lower 32 bits.
type clock struct {
	newest int64
	any    bool
	narrow []uint32
}

func (c *clock) note64(ms int64, err error) {
	if err == nil && ms > 0 && (!c.any || ms > c.newest) {
		c.newest, c.any = ms, true
	}
}

func (c *clock) note32(ms int64, err error) {
	if err == nil && ms != 0 {
		c.narrow = append(c.narrow, uint32(ms))
	}
}

// widen is a time of 32 bits as one of 64: the one next to the newest that is known.
func (c *clock) widen(ms uint32) int64 {
	if !c.any {
		return int64(ms)
	}
	return c.newest + int64(int32(ms-uint32(c.newest)))
}

// now is the newest time that was noted.
func (c *clock) now() answer.Maybe[int64] {
	for _, ms := range c.narrow {
		c.note64(c.widen(ms), nil)
	}
	c.narrow = nil
	if !c.any {
		return answer.Maybe[int64]{Err: fmt.Errorf("the time of the dump: %w", target.ErrNotInDump)}
	}
	return answer.Known(c.newest)
}
