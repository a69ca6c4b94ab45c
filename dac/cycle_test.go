package dac

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestCycle checks that a list without end is detected soon, with any number of elements before the loop, and
// that a list with an end is not.
func TestCycle(t *testing.T) {
	for _, c := range []struct{ tail, loop int }{{0, 1}, {1, 1}, {0, 2}, {5, 3}, {1000, 7}, {3, 1000}} {
		var seen cycle
		steps, at := 0, 0
		for !seen.closes(target.Addr(8 * (at + 1))) {
			if steps++; steps > 3*(c.tail+c.loop)+3 {
				t.Fatalf("a tail of %d and a loop of %d: not noticed", c.tail, c.loop)
			}
			if at++; at == c.tail+c.loop {
				at = c.tail
			}
		}
	}
	var seen cycle
	for i := range 100_000 {
		require.False(t, seen.closes(target.Addr(8*(i+1))))
	}
}
