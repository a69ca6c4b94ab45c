package threads

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSpinning checks that a thread which spins in the methods of a Lock does not wait yet, and that an idle worker which spins by the same class, or a thread
// that waits in a Lock, is in no such stack.
func TestSpinning(t *testing.T) {
	for _, c := range []struct {
		stack []string // from the innermost method on
		runs  bool
	}{
		{[]string{"System.Threading.Thread", spinWaiter, spinsFirst, spinsFirst}, true},
		{[]string{"System.Threading.Thread", spinWaiter, "System.Threading.LowLevelLifoSemaphore", "System.Threading.PortableThreadPool+WorkerThread"}, false},
		{[]string{"System.Threading.WaitHandle", spinsFirst, spinsFirst}, false},
		{[]string{spinWaiter, "System.Threading.LowLevelLock", spinsFirst}, false},
	} {
		spins := false
		for _, class := range c.stack {
			spins = spinning(spins, class)
		}
		assert.Equal(t, c.runs, spins, c.stack)
	}
}
