package dap

import (
	"context"
	"time"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/process"
)

// SetProgressDelay changes how long requests run before they are reported, for servers that start later. It returns what undoes it.
func SetProgressDelay(d time.Duration) (undo func()) {
	old := progressDelay
	progressDelay = d
	return func() { progressDelay = old }
}

// Runs returns what a frame with a method runs.
func Runs(method string) int { return runs(method) }

// NamesOf returns the names of the frames of who waits.
func NamesOf(link answer.TaskLink, st *answer.TaskState, v *process.Process) (names []string) {
	for _, f := range framesOf(link, st, v) {
		names = append(names, (*session)(nil).showLater(context.Background(), &frame{later: f}, dap.StackFrame{}).Name)
	}
	return names
}

// What Runs returns.
const (
	RunsNothing = runsNothing
	RunsMachine = runsMachine
	RunsBox     = runsBox
	RunsTask    = runsTask
	RunsRuntime = runsRuntime
)
