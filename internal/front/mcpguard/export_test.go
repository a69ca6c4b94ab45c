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

// SetBodyTime sets how long a client takes to send a message. undo restores it.
func SetBodyTime(d time.Duration) (undo func()) {
	old := bodyTime
	bodyTime = d
	return func() { bodyTime = old }
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
