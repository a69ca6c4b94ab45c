package words_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/words"
)

func TestElapsed(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s":            0,
		"7 ns":           7,
		"2 µs":           1500,
		"250 ms":         250 * time.Millisecond,
		"1 s":            999_600 * time.Microsecond,
		"14.2 s":         14161 * time.Millisecond,
		"1 min":          59_960 * time.Millisecond,
		"1 min 40 s":     100 * time.Second,
		"1 h":            time.Hour - 400*time.Millisecond,
		"2 h 5 min":      2*time.Hour + 5*time.Minute + 20*time.Second,
		"1 d":            24*time.Hour - time.Second,
		"49 d 17 h":      math.MaxUint32 * time.Millisecond,
		"-3 s":           -3 * time.Second,
		"106751 d 23 h":  math.MaxInt64,
		"-106751 d 23 h": math.MinInt64,
	} {
		assert.Equal(t, want, words.Elapsed(d), "%d", d)
	}
	assert.Equal(t, "106751 d 23 h", words.ElapsedMillis(math.MaxInt64))
	assert.Equal(t, "-106751 d 23 h", words.ElapsedMillis(math.MinInt64))
	assert.Equal(t, "30 s", words.Milliseconds(30_000).Text)
	assert.Equal(t, "1.3 s", words.Duration(1250*time.Millisecond).Text)
}
