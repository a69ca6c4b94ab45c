package web

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestHeartbeat checks that ages are computed only from times of one clock, and milliseconds only from one that counts nanoseconds.
func TestHeartbeat(t *testing.T) {
	b := heartbeat{at: 100e9, second: 1e9}
	assert.Equal(t, 2500*time.Millisecond, b.age(97_500_000_000))
	assert.EqualValues(t, 100_000, b.ms())
	assert.Zero(t, b.age(0), "not measured")
	assert.Zero(t, b.age(101e9), "after the heartbeat")
	assert.Zero(t, b.age(-1))
	windows := heartbeat{at: 1000e7, second: 1e7}
	assert.Equal(t, 3*time.Second, windows.age(997e7))
	assert.Zero(t, windows.ms())
	assert.Zero(t, (&heartbeat{}).age(5))
	assert.Zero(t, (&heartbeat{}).ms())
}
