package testcase

import (
	"math"
	"os"
	"runtime/debug"
	"testing"
)

// Tests read many dumps in one process, and little of the memory is alive at a time. The garbage
// collector's default goal would take an eighth of the time. The limit bounds the growth of a test
// binary.
const (
	testGC     = 400
	testMemory = 1 << 30
)

func init() {
	if !testing.Testing() || os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(testGC)
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(testMemory)
	}
}

// MemoryLimit sets the limit of a test binary that has more alive: near its limit, the collector runs all the time. The environment
// takes precedence.
func MemoryLimit(bytes int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bytes)
	}
}
