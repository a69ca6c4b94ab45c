package tasks_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
)

// TestFlags compares Status with Task.Status for flags of real tasks.
func TestFlags(t *testing.T) {
	for flags, want := range map[tasks.Flags]answer.TaskStatus{
		0: answer.StatusCreated, 0x2000400: answer.StatusWaitingForActivation, 0x200400: answer.StatusFaulted, 0x10000: answer.StatusWaitingToRun, 0x30000: answer.StatusRunning, 0x1000400: answer.StatusRanToCompletion,
		0x830000: answer.StatusWaitingForChildrenToComplete, 0x400000 | 0x100000: answer.StatusCanceled, 0x6000400: answer.StatusWaitingForActivation, 0x1200000: answer.StatusFaulted, 73728: answer.StatusWaitingToRun,
	} {
		assert.Equal(t, want, flags.Status(), "%#x", uint32(flags))
		assert.Equal(t, flags&0x1600000 != 0, flags.Completed(), "%#x", uint32(flags))
	}
	assert.Equal(t, []string{"PromiseTask", "WaitingForActivation"}, tasks.Flags(0x2000400).Names())
	assert.Equal(t, []string{"QueuedByRuntime", "Started", "0x80000000"}, tasks.Flags(0x80012000).Names())
	assert.Empty(t, tasks.Flags(0).Names())
}
