package webui

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// The bounds of connections. Who has the token needs few: a browser opens six to a server.
const (
	maxConns  = 64               // at a time
	idleTime  = 30 * time.Second // ends a connection without a request
	writeTime = 30 * time.Second // bounds how long a client takes to read a part of an answer
)

// conns bounds the connections of a server. Where there are too many, the oldest goes whose client has not shown the token: those
// who do not have it can't keep out those who do.
type conns struct {
	net.Listener

	mu   sync.Mutex
	open []*conn // the oldest first
}

// A conn is a connection of a conns.
type conn struct {
	net.Conn

	of    *conns
	knows bool // its client has shown the token
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

// makeRoom closes a connection.
func (l *conns) makeRoom() {
	victim := l.open[0]
	for _, c := range l.open {
		if !c.knows {
			victim = c
			break
		}
	}
	l.remove(victim)
	_ = victim.Conn.Close() // its handler notices
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

// connKey is that of the connection in a request's context.
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

// A patientWriter gives its client writeTime for each part of an answer. A client that does not read ends its command, which others
// wait for.
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
	_ = w.control.Flush() // an error is that of the next write
}

// Unwrap is for http.ResponseController.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// more gives the client time from now on.
func (w *patientWriter) more() {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.time)) // a server of another program may have none
}
