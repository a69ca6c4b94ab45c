package ticks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/base/ticks"
)

// Convert a DateTime and a TimeSpan.
func Example() {
	fmt.Println(ticks.Time(638_000_000_000_000_000).Format(time.RFC3339), ticks.Span(54_300_000_000))
	// Output: 2022-09-28T22:13:20Z 01:30:30
}

func TestSpan(t *testing.T) {
	for n, want := range map[int64]string{
		0:                    "00:00:00",
		54_300_000_000:       "01:30:30",
		-1:                   "-00:00:00.0000001",
		864_000_000_000:      "1.00:00:00",
		-9223372036854775808: "-10675199.02:48:05.4775808",
	} {
		assert.Equal(t, want, ticks.Span(n))
	}
}

// TestTime converts in both directions, including the first and the last DateTime.
func TestTime(t *testing.T) {
	for n, want := range map[int64]string{0: "0001-01-01T00:00:00Z", 1: "0001-01-01T00:00:00.0000001Z", ticks.UnixEpoch: "1970-01-01T00:00:00Z",
		ticks.UnixEpoch - 1: "1969-12-31T23:59:59.9999999Z", ticks.Max: "9999-12-31T23:59:59.9999999Z"} {
		assert.Equal(t, want, ticks.Time(n).Format(time.RFC3339Nano))
		assert.Equal(t, n, ticks.Of(ticks.Time(n)))
	}
}
