package mcp

import "time"

// SetPageSize changes how many items of a list an answer has.
func (s *Server) SetPageSize(n int) { s.pageSize = n }

// SetStreamAfter changes when answers over HTTP become streams. It returns what undoes it.
func SetStreamAfter(d time.Duration) (undo func()) {
	old := streamAfter
	streamAfter = d
	return func() { streamAfter = old }
}

// Sessions returns how many clients have one.
func (h *Handler) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}
