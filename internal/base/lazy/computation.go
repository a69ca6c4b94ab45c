package lazy

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/workers"
)

// A computation is a Value without its type parameter.
type computation struct {
	result atomic.Pointer[result] // nil unless there is a result to keep
	mu     sync.Mutex             // guards run
	run    *run                   // the computation in progress, or nil
}

// A result is the outcome of a computation.
type result struct {
	v     any // of the Value's type
	err   error
	panic *workers.Panic
}

// stopped reports whether a context stopped the computation.
func (r *result) stopped() bool {
	return r.panic == nil && (errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded))
}

// get returns the result of f, or of a computation in progress.
func (l *computation) get(f func() (any, error)) *result {
	for {
		if r := l.result.Load(); r != nil {
			return r
		}
		c, first := l.join(nil)
		if first {
			l.compute(c, f)
			return c.result
		}
		<-c.ended
	}
}

// getContext is get for a caller that may leave.
func (l *computation) getContext(ctx context.Context, f func(ctx context.Context) (any, error)) *result {
	for {
		if r := l.result.Load(); r != nil {
			return r
		}
		if ctx == nil {
			ctx = context.Background()
		}
		if err := ctx.Err(); err != nil {
			return &result{err: err}
		}
		c, first := l.join(&wantedContext{Context: context.WithoutCancel(ctx), first: ctx, done: make(chan struct{})})
		if first {
			go l.compute(c, func() (any, error) { return f(c.wanted) })
		}
		select {
		case <-c.ended:
			if first {
				return c.result
			}
		case <-ctx.Done():
			l.leave(c, first)
			return &result{err: ctx.Err()}
		}
	}
}

// loadValue returns the result, or nil without one or for an error or a panic.
func (l *computation) loadValue() *result {
	r := l.result.Load()
	if r == nil || r.panic != nil || r.err != nil {
		return nil
	}
	return r
}

// take waits for a computation in progress, and forgets and returns its value. It returns nil without
// one.
func (l *computation) take() *result {
	for {
		l.mu.Lock()
		c := l.run
		if c == nil {
			r := l.loadValue()
			if r != nil {
				l.result.Store(nil)
			}
			l.mu.Unlock()
			return r
		}
		l.mu.Unlock()
		<-c.ended
	}
}

// A run is a computation in progress and the number of callers that wait for it.
type run struct {
	ended  chan struct{}
	result *result        // set once it ended
	wanted *wantedContext // nil if the caller that computes can't leave
	users  atomic.Int32   // changed under the Value's mu
}

// join joins the computation in progress. Without one, it starts a new run and returns
// first=true; the caller must compute it. wanted is the context of a new run, or nil if the caller
// can't leave.
func (l *computation) join(wanted *wantedContext) (c *run, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.result.Load(); r != nil { // it ended a moment ago
		c = &run{ended: make(chan struct{}), result: r}
		close(c.ended)
		return c, false
	}
	if l.run == nil {
		l.run, first = &run{ended: make(chan struct{}), wanted: wanted}, true
		if wanted != nil {
			wanted.users = &l.run.users
		}
	}
	l.run.users.Add(1)
	return l.run, first
}

// leave removes a waiter. first is set for the caller that started the run. When the last waiter
// leaves, leave cancels the computation and waits for it.
func (l *computation) leave(c *run, first bool) {
	l.mu.Lock()
	if first && c.wanted != nil {
		c.wanted.firstLeft.Store(true)
	}
	last := c.users.Add(-1) == 0 && c.wanted != nil
	if last && !c.wanted.ended.Swap(true) { // a waiter that joined a stopped run leaves it too
		close(c.wanted.done)
	}
	l.mu.Unlock()
	if last {
		<-c.ended
	}
}

// compute runs f and keeps its result, unless it was stopped or failed for a caller that may leave:
// that caller's limits may be the reason, and the next caller may have others.
func (l *computation) compute(c *run, f func() (any, error)) {
	r := &result{}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a mapped file may have been truncated
	defer func() {
		if v := recover(); v != nil {
			r.panic = workers.Caught(v)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if !r.stopped() && (r.err == nil && r.panic == nil || c.wanted == nil) {
			l.result.Store(r)
		}
		c.result, l.run = r, nil
		close(c.ended)
	}()
	r.v, r.err = f()
}

// A wantedContext ends when the last waiter has left.
type wantedContext struct {
	context.Context // the values of the first caller's context

	first     context.Context
	firstLeft atomic.Bool
	users     *atomic.Int32
	ended     atomic.Bool
	done      chan struct{}
}

// Done is closed when c ends.
func (c *wantedContext) Done() <-chan struct{} { return c.done }

// Err returns context.Canceled once c has ended, even before the waiting goroutine has noticed it.
func (c *wantedContext) Err() error {
	if c.ended.Load() || !c.firstLeft.Load() && c.users.Load() == 1 && c.first.Err() != nil {
		return context.Canceled
	}
	return nil
}
