package dap

import "time"

// SetProgressDelay changes how long requests run before they are reported, for servers that start later. It returns what undoes it.
func SetProgressDelay(d time.Duration) (undo func()) {
	old := progressDelay
	progressDelay = d
	return func() { progressDelay = old }
}

// Runs returns what a frame with a method runs.
func Runs(method string) int { return runs(method) }

// What Runs returns.
const (
	RunsNothing = runsNothing
	RunsMachine = runsMachine
	RunsBox     = runsBox
	RunsTask    = runsTask
	RunsRuntime = runsRuntime
)
