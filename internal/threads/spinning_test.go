package threads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/threads"
)

// TestSpinning checks that a thread which spins in the methods of a Lock does not wait yet, and that an idle worker which spins by the same class, or a thread
// that waits in a Lock, is in no such stack.
func TestSpinning(t *testing.T) {
	for _, c := range []struct {
		stack []string // from the innermost method on
		runs  bool
	}{
		{[]string{"System.Threading.Thread", "System.Threading.LowLevelSpinWaiter", "System.Threading.Lock", "System.Threading.Lock"}, true},
		{[]string{"System.Threading.Thread", "System.Threading.LowLevelSpinWaiter", "System.Threading.LowLevelLifoSemaphore", "System.Threading.PortableThreadPool+WorkerThread"}, false},
		{[]string{"System.Threading.WaitHandle", "System.Threading.Lock", "System.Threading.Lock"}, false},
		{[]string{"System.Threading.LowLevelSpinWaiter", "System.Threading.LowLevelLock", "System.Threading.Lock"}, false},
	} {
		spins := false
		for _, class := range c.stack {
			spins = threads.Spinning(spins, class)
		}
		assert.Equal(t, c.runs, spins, c.stack)
	}
}
