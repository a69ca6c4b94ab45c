package testcase

import (
	"math"
	"os"
	"runtime/debug"
	"testing"
)

// Tests read many dumps in one process, and little of what they allocate is alive at once. With the usual goal of the garbage collector an
// eighth of their time goes there. The limit keeps a test binary from growing without need.
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
