package testcase

import (
	"os"
	"testing"
)

// Complete reports whether tests try everything. .ci/run requests it with SOSGO_COMPLETE, and
// -short prevents it. Otherwise tests that would take long try a sample, the same each time, and
// log its size.
func Complete() bool { return os.Getenv("SOSGO_COMPLETE") != "" && !testing.Short() }

// Sample returns every nth item of a list, starting with the first, or all items if the tests are
// Complete.
func Sample[T any](t testing.TB, list []T, nth int) []T {
	t.Helper()
	if Complete() {
		return list
	}
	var some []T
	for i := 0; i < len(list); i += nth {
		some = append(some, list[i])
	}
	logSample(t, len(some), len(list))
	return some
}

// Part returns how many of n cases a test tries: the nth part but at least 6, or all if the tests
// are Complete.
func Part(t testing.TB, n, nth int) int {
	t.Helper()
	some := max(6, n/nth)
	if Complete() || some >= n {
		return n
	}
	logSample(t, some, n)
	return some
}

func logSample(t testing.TB, some, all int) {
	t.Helper()
	t.Logf("a sample: %d of %d; SOSGO_COMPLETE=1 tries all", some, all)
}
