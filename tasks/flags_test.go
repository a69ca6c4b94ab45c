package tasks

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestFlags: the status is what Task.Status returns for flags that tasks of real processes have.
func TestFlags(t *testing.T) {
	for flags, want := range map[Flags]string{
		0: Created, 0x2000400: WaitingForActivation, 0x200400: Faulted, 0x10000: WaitingToRun, 0x30000: Running, 0x1000400: RanToCompletion,
		0x830000: WaitingForChildrenToComplete, 0x400000 | 0x100000: Canceled, 0x6000400: WaitingForActivation, 0x1200000: Faulted, 73728: WaitingToRun,
	} {
		assert.Equal(t, want, flags.Status(), "%#x", uint32(flags))
		assert.Equal(t, flags&0x1600000 != 0, flags.Completed(), "%#x", uint32(flags))
	}
	assert.Equal(t, []string{"PromiseTask", "WaitingForActivation"}, Flags(0x2000400).Names())
	assert.Equal(t, []string{"QueuedByRuntime", "Started", "0x80000000"}, Flags(0x80012000).Names())
	assert.Empty(t, Flags(0).Names())
}
