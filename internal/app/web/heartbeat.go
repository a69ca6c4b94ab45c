package web

import (
	"time"

	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/objects"
)

// A heartbeat is the newest time by the clock of Stopwatch that Kestrel has passed to its connections.
type heartbeat struct {
	at     int64 // 0 if it is unknown
	second int64 // units of the clock in a second
}

// longestUptime separates times since boot in nanoseconds from ticks since the year 1, which older versions record.
const longestUptime = int64(10 * 365 * 24 * time.Hour)

// note adds the time that a connection has.
func (b *heartbeat) note(g shapes.Reading, t *timeoutControl, x objects.Instance) {
	last, second := g.IntAt(&t.Last, x), g.IntAt(&t.Second, x)
	if last.Err() == nil && second.Err() == nil && second.Value > 0 && last.Value > b.at && last.Value < longestUptime {
		b.at, b.second = last.Value, second.Value
	}
}

// age returns how long before the heartbeat a time was. It returns 0 if either is unknown.
func (b *heartbeat) age(start int64) time.Duration {
	if start <= 0 || b.at <= start || b.at-start >= longestUptime {
		return 0
	}
	return time.Duration(float64(b.at-start) / float64(b.second) * float64(time.Second))
}

// ms returns the heartbeat in milliseconds since boot. It returns 0 unless the clock counts nanoseconds: only then do Stopwatch and
// Environment.TickCount64 read the same clock of the system.
func (b *heartbeat) ms() int64 {
	if b.second != int64(time.Second) {
		return 0
	}
	return b.at / int64(time.Millisecond)
}
