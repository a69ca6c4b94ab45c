package dac

import "github.com/sosgo/sosgo/target"

// A cycle detects a list of the target that leads back into itself, by Brent's algorithm. It needs no memory and at
// most three times the list's length. The zero value is ready.
type cycle struct {
	at           target.Addr // an address of the list that later ones are compared with
	steps, limit uint64      // since at was taken, and until the next is taken
}

// closes records the next address of the list and reports whether it came before.
func (c *cycle) closes(a target.Addr) bool {
	if a == c.at {
		return true
	}
	if c.steps++; c.steps >= c.limit {
		c.at, c.steps, c.limit = a, 0, 2*max(c.limit, 1)
	}
	return false
}
