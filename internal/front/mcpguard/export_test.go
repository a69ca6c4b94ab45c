package mcpguard

import (
	"net/http"
	"time"
)

// BeginEarly returns a response as if the SDK had taken long to answer.
func BeginEarly(w http.ResponseWriter) http.ResponseWriter {
	e := newEvents(w)
	e.begin()
	e.timer.Stop()
	return e
}

// SetStreamAfter sets the time after which HTTP answers become streams. undo restores it.
func SetStreamAfter(d time.Duration) (undo func()) {
	old := streamAfter
	streamAfter = d
	return func() { streamAfter = old }
}

// Sessions returns the number of open sessions.
func (h *Handler) Sessions() (n int) {
	for range h.server.Sessions() {
		n++
	}
	return n
}
