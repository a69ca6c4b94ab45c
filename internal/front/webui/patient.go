package webui

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bounds of connections. A client with the token needs few: a browser opens six to a server.
const (
	maxConns  = 64               // concurrent connections
	idleTime  = 30 * time.Second // ends a connection without a request
	writeTime = 30 * time.Second // for a client to read a part of an answer
)

// conns bounds the connections of a server. If there are too many, it closes the oldest one without the token, so
// that clients without the token cannot lock out others.
type conns struct {
	net.Listener

	mu   sync.Mutex
	open []*conn // oldest first
}

// A conn is a connection of a conns.
type conn struct {
	net.Conn

	of    *conns
	knows bool // the client has shown the token
}

// Accept implements net.Listener.
func (l *conns) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= maxConns {
		l.makeRoom()
	}
	out := &conn{Conn: c, of: l}
	l.open = append(l.open, out)
	return out, nil
}

// makeRoom closes a connection, preferring one without the token.
func (l *conns) makeRoom() {
	victim := l.open[0]
	for _, c := range l.open {
		if !c.knows {
			victim = c
			break
		}
	}
	l.remove(victim)
	_ = victim.Conn.Close() // the handler gets an error
}

func (l *conns) remove(c *conn) {
	for i := range l.open {
		if l.open[i] == c {
			l.open = append(l.open[:i], l.open[i+1:]...)
			return
		}
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// connKey is the context key of a request's connection.
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// trust records that the client of a request has shown the token.
func trust(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		c.of.mu.Lock()
		c.knows = true
		c.of.mu.Unlock()
	}
}

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
