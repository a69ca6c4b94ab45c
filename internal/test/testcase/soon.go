package testcase

import (
	"testing"
	"time"
)

// Soon checks that f returns within limit. It is called up to five times, because the machine may be busy.
func Soon(t testing.TB, limit time.Duration, f func()) {
	t.Helper()
	took := limit
	for i := 0; i < 5 && took >= limit; i++ {
		start := time.Now()
		f()
		took = min(took, time.Since(start))
	}
	if took >= limit {
		t.Errorf("it took %v at best, and may take %v", took, limit)
	}
}
