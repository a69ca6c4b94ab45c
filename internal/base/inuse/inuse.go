// Package inuse keeps a resource open while it is used: Close ends the contexts of its users and
// waits until they have left.
package inuse

import (
	"context"
	"sync"
	"sync/atomic"
)

// A Gate counts the users of a resource. It is safe for concurrent use and must not be copied.
type Gate struct {
	err  error
	life context.Context
	end  context.CancelFunc

	mu     sync.Mutex
	closed bool
	users  int
	idle   chan struct{} // closed when the last user leaves; nil unless Close waits
}

// New returns an open gate. Users that arrive or still work after Close get err.
func New(err error) *Gate {
	g := &Gate{err: err}
	g.life, g.end = context.WithCancel(context.Background())
	return g
}

// Use admits a user until done is called. The returned context ends with ctx, when done is called,
// or when the gate is closed; in that case its error is the gate's. If the gate is closed already,
// Use returns its error and a done that does nothing.
func (g *Gate) Use(ctx context.Context) (used context.Context, done func(), err error) {
	return g.use(ctx, false)
}

// UseLasting is Use with a context that does not end when done is called, for answers that read
// while they are iterated over.
func (g *Gate) UseLasting(ctx context.Context) (used context.Context, done func(), err error) {
	return g.use(ctx, true)
}

func (g *Gate) use(ctx context.Context, lasting bool) (used context.Context, done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ctx, func() {}, g.err
	}
	g.users++
	u := &useContext{Context: ctx, life: g.life, closed: g.err, done: make(chan struct{})}
	stopOuter := context.AfterFunc(ctx, func() { u.cancel(ctx.Err()) })
	stopLife := context.AfterFunc(g.life, func() { u.cancel(g.err) })
	return u, sync.OnceFunc(func() {
		stopOuter()
		stopLife()
		if lasting {
			u.left.Store(true)
		} else {
			u.cancel(context.Canceled)
		}
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

// Close admits no more users, ends the contexts of all users, and waits until they have left. It
// reports whether it is the first call; later calls do not wait. A user must not call it.
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

// A useContext ends when the outer context ends or the gate is closed. It has its own channel:
// contexts derived from it would otherwise take their error from the context that owns the channel,
// context.Canceled.
type useContext struct {
	context.Context // the outer context

	life   context.Context // the gate's
	closed error           // the error once life ended
	left   atomic.Bool     // the user has left; nothing calls cancel any more
	done   chan struct{}
	mu     sync.Mutex
	err    error
}

// cancel ends c unless it has ended.
func (c *useContext) cancel(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
		close(c.done)
	}
}

// Done returns a channel that is closed when c ends. After the user has left, it returns the outer
// context's channel.
func (c *useContext) Done() <-chan struct{} {
	if c.left.Load() {
		return c.Context.Done()
	}
	return c.done
}

// Err returns nil until c ends, then the error of the outer context or the gate.
func (c *useContext) Err() error {
	if err := c.Context.Err(); err != nil {
		c.cancel(err) // the function of AfterFunc may not have run yet
	} else if c.left.Load() && c.life.Err() != nil {
		c.cancel(c.closed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
