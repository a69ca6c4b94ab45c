package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestLongListing: a listing of 60,000 keys that a slow server answers one by one costs a bounded time.
func TestLongListing(t *testing.T) {
	const keys, slow = 60_000, 3 * time.Second
	now := time.Time{}
	l, asked := Looks{now: func() time.Time { return now }}, 0
	for range keys {
		l.Look(func() {
			asked++
			now = now.Add(slow)
		})
	}
	assert.Equal(t, int(MostLooks/slow), asked)
	assert.LessOrEqual(t, now.Sub(time.Time{}), MostLooks+slow)
}
