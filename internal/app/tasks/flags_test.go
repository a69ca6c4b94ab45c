package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/internal/app/tasks"
)

// TestFlags compares Status with Task.Status for flags of real tasks.
func TestFlags(t *testing.T) {
	for flags, want := range map[tasks.Flags]string{
		0: tasks.Created, 0x2000400: tasks.WaitingForActivation, 0x200400: tasks.Faulted, 0x10000: tasks.WaitingToRun, 0x30000: tasks.Running, 0x1000400: tasks.RanToCompletion,
		0x830000: tasks.WaitingForChildrenToComplete, 0x400000 | 0x100000: tasks.Canceled, 0x6000400: tasks.WaitingForActivation, 0x1200000: tasks.Faulted, 73728: tasks.WaitingToRun,
	} {
		assert.Equal(t, want, flags.Status(), "%#x", uint32(flags))
		assert.Equal(t, flags&0x1600000 != 0, flags.Completed(), "%#x", uint32(flags))
	}
	assert.Equal(t, []string{"PromiseTask", "WaitingForActivation"}, tasks.Flags(0x2000400).Names())
	assert.Equal(t, []string{"QueuedByRuntime", "Started", "0x80000000"}, tasks.Flags(0x80012000).Names())
	assert.Empty(t, tasks.Flags(0).Names())
}
