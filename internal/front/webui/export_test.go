package webui

import "time"

// Hurry has s wait less for its clients.
func (s *Server) Hurry(d time.Duration) { s.idle, s.write = d, d }
