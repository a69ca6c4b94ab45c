package dap

import (
	"context"
	"time"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/process"
)

// SetProgressDelay sets how long a request runs before its progress is reported, for servers started later. undo
// restores the old delay.
func SetProgressDelay(d time.Duration) (undo func()) {
	old := progressDelay
	progressDelay = d
	return func() { progressDelay = old }
}

// SetTokenTime sets how long clients take to show the token, for servers started later. undo restores the old time.
func SetTokenTime(d time.Duration) (undo func()) {
	old := tokenTime
	tokenTime = d
	return func() { tokenTime = old }
}

// Runs exports runs.
func Runs(method string) int { return runs(method) }

// NamesOf returns the names of a waiter's frames.
func NamesOf(link answer.TaskLink, st *answer.TaskState, v *process.Process) (names []string) {
	for _, f := range framesOf(link, st, v) {
		names = append(names, (&session{runtime: true}).showLater(context.Background(), &frame{later: f}, dap.StackFrame{}).Name)
	}
	return names
}

// Results of Runs.
const (
	RunsNothing = runsNothing
	RunsMachine = runsMachine
	RunsBox     = runsBox
	RunsTask    = runsTask
	RunsRuntime = runsRuntime
)
