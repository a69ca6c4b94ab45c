package webui

import (
	"net/http"
	"time"
)

const (
	idleTime  = 30 * time.Second // ends a connection without a request
	writeTime = 30 * time.Second // for a client to read a part of an answer
)

// A patientWriter gives its client writeTime for each part of an answer. The answer to a client that stops reading
// fails, which frees its command's place for others.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	time    time.Duration
}

func (w *patientWriter) Write(b []byte) (int, error) {
	w.more()
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (w *patientWriter) Flush() {
	w.more()
	_ = w.control.Flush() // the next write returns the error
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// more extends the write deadline.
func (w *patientWriter) more() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.time)) // another program's server may not support deadlines
}
