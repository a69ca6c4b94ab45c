package testcase

import (
	"math"
	"os"
	"runtime/debug"
	"testing"
)

// Tests read many dumps in one process, and little of the memory is alive at a time. The garbage
// collector's default goal would take an eighth of the time. The limit bounds the growth of a test
// binary. It must be well above what is alive, up to 1.4 GB in acceptance: near it, the collector runs
// all the time, which was half of that package's.
const (
	testGC     = 400
	testMemory = 3 << 30
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
