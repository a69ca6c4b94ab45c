// Package serving bounds what clients without the token can take from a server: every listener of sosgo (the page,
// agents, editors) goes through Limit, and every HTTP server through HTTP. Start there.
package serving

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	headerTime = 10 * time.Second // for a client to send its request's head
	bodyTime   = 30 * time.Second // and then its body
	maxHeader  = 64 << 10         // bytes of a request's head
)

// Strangers is a common limit of connections without trust. A browser opens six to a server.
const Strangers = 64

// Limit returns a listener with at most so many connections without trust. If another client connects, the listener
// closes the oldest of these, so that clients without the token cannot lock out others. Trusted connections stay.
func Limit(l net.Listener, strangers int) net.Listener { return &limited{Listener: l, most: strangers} }

type limited struct {
	net.Listener

	most      int
	mu        sync.Mutex
	strangers []*conn // oldest first
}

// A conn is a connection of a limited listener.
type conn struct {
	net.Conn

	of *limited
}

// Accept implements net.Listener.
func (l *limited) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.strangers) >= l.most {
		_ = l.strangers[0].Conn.Close() // its reader gets an error
		l.strangers = slices.Delete(l.strangers, 0, 1)
	}
	out := &conn{Conn: c, of: l}
	l.strangers = append(l.strangers, out)
	return out, nil
}

// forget gives the place of a connection back.
func (c *conn) forget() {
	c.of.mu.Lock()
	c.of.strangers = slices.DeleteFunc(c.of.strangers, func(o *conn) bool { return o == c })
	c.of.mu.Unlock()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.forget()
	return c.Conn.Close()
}

// Trust records that the client of a connection has shown the token.
func Trust(c net.Conn) {
	if c, ok := c.(*conn); ok {
		c.forget()
	}
}

// connKey is the context key of a request's connection.
type connKey struct{}

// Limits bound what clients take.
type Limits struct {
	Strangers int           // connections without the token
	Idle      time.Duration // of a connection without a request
	Body      int64         // bytes of a request's body
	BodyTime  time.Duration // for a client to send a body, 0 for 30 seconds
}

// HTTP serves requests at l until ctx ends, and then returns nil. Handlers check requests with a Door. If a body does not
// arrive in time, the connection is closed, even if the handler does not read the body.
func HTTP(ctx context.Context, l net.Listener, h http.Handler, o Limits) error {
	h = timely(http.MaxBytesHandler(h, o.Body), cmp.Or(o.BodyTime, bodyTime))
	s := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: o.Idle, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	err := s.Serve(Limit(l, o.Strangers))
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// timely returns a handler that gives clients limit to send a body. http.Server.ReadTimeout would also end requests
// that are answered for longer than that.
func timely(h http.Handler, limit time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			c := http.NewResponseController(w)
			_ = c.SetReadDeadline(time.Now().Add(limit)) // connections have deadlines
			timed := *r
			timed.Body = &timedBody{r.Body, c}
			r = &timed
		}
		h.ServeHTTP(w, r)
	})
}

// A timedBody lifts the deadline of its connection at its end.
type timedBody struct {
	io.ReadCloser

	conn *http.ResponseController
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
