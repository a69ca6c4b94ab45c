package dap

import "time"

// SetProgressDelay changes how long requests run before they are reported, for servers that start later. It returns what undoes it.
func SetProgressDelay(d time.Duration) (undo func()) {
	old := progressDelay
	progressDelay = d
	return func() { progressDelay = old }
}
