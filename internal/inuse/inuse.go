// Package inuse keeps what is closed from being given back while somebody is at work with it: who closes tells those who are
// there to leave, and waits until they have.
package inuse

import (
	"context"
	"sync"
)

// A Gate counts who is at work with something. It is for any number of goroutines, and not to be copied.
type Gate struct {
	err  error
	life context.Context
	end  context.CancelFunc

	mu     sync.Mutex
	closed bool
	users  int
	idle   chan struct{} // not nil where somebody waits for the last to leave
}

// New is an open gate. err is what those are told who come or work when it is closed.
func New(err error) *Gate {
	g := &Gate{err: err}
	g.life, g.end = context.WithCancel(context.Background())
	return g
}

// Use lets one in until done is called. The context that it returns ends with ctx, and when the gate is closed: then its error is
// the gate's. The error is the gate's, too, and done does nothing where it is closed already.
func (g *Gate) Use(ctx context.Context) (used context.Context, done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ctx, func() {}, g.err
	}
	g.users++
	u := &useContext{Context: ctx, done: make(chan struct{})}
	stopOuter := context.AfterFunc(ctx, func() { u.cancel(ctx.Err()) })
	stopLife := context.AfterFunc(g.life, func() { u.cancel(g.err) })
	return u, sync.OnceFunc(func() {
		stopOuter()
		stopLife()
		u.cancel(context.Canceled)
		g.leave()
	}), nil
}

func (g *Gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.users--; g.users == 0 && g.idle != nil {
		close(g.idle)
	}
}

// Close lets nobody in any more, ends the contexts of those who are there, and waits until all have left. It reports whether
// it is the first to close; another waits for nobody. Who is at work must not close.
func (g *Gate) Close() (first bool) {
	g.mu.Lock()
	first = !g.closed
	g.closed = true
	g.end()
	if first && g.users > 0 {
		g.idle = make(chan struct{})
	}
	wait := g.idle
	g.mu.Unlock()
	if first && wait != nil {
		<-wait
	}
	return first
}

// A useContext ends when the outer one does or the gate is closed. Its channel is its own: contexts that are
// derived from it would else take their error from the one that has the channel, and tell of a user who gave up.
type useContext struct {
	context.Context // the outer one

	done chan struct{}
	mu   sync.Mutex
	err  error
}

// cancel ends c, unless it has ended.
func (c *useContext) cancel(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}

// Done is closed when c ends.
func (c *useContext) Done() <-chan struct{} { return c.done }

// Err is nil until c ends, then the outer context's error, or the gate's.
func (c *useContext) Err() error {
	if err := c.Context.Err(); err != nil {
		c.cancel(err) // whoever was to tell may not have run yet
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
