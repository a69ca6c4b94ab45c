package dac

import "github.com/sosgo/sosgo/target"

// A cycle detects a list of the target that leads back into itself, by Brent's algorithm. It needs no memory,
// and at most three times as many steps as the list has elements. The zero value is ready.
type cycle struct {
	at           target.Addr // an earlier address of the list
	steps, limit uint64      // steps since at was recorded, and until the next one is
}

// closes records the next address of the list and reports whether it repeats.
func (c *cycle) closes(a target.Addr) bool {
	if a == c.at {
		return true
	}
	if c.steps++; c.steps >= c.limit {
		c.at, c.steps, c.limit = a, 0, 2*max(c.limit, 1)
	}
	return false
}
