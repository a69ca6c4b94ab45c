// Package serving bounds what clients without the token can take from a server: every listener of sosgo (the page,
// agents, editors) goes through Limit, and every HTTP server through HTTP. Start there.
package serving

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	headerTime = 10 * time.Second // for a client to send its request's head
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
}

// HTTP serves requests at l until ctx ends, and then returns nil. Handlers check requests with a Door.
func HTTP(ctx context.Context, l net.Listener, h http.Handler, o Limits) error {
	s := &http.Server{Handler: http.MaxBytesHandler(h, o.Body), ReadHeaderTimeout: headerTime, IdleTimeout: o.Idle, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }}
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	err := s.Serve(Limit(l, o.Strangers))
	if ctx.Err() != nil {
		return nil
	}
	return err
}
