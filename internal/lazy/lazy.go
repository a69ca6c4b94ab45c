// Package lazy holds values that are computed when they are first asked for.
package lazy

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/workers"
)

// A Value is computed once, by the first that asks for it; whoever asks at the
// same time waits. The zero Value is ready for use; it must not be copied after
// its first use.
type Value[T any] struct {
	result atomic.Pointer[result[T]] // nil until there is one to keep
	mu     sync.Mutex                // for run
	run    *run[T]                   // the computation that is going on, nil for none
}

// A result is what a computation came to.
type result[T any] struct {
	v     T
	err   error
	panic *workers.Panic
}

func (r *result[T]) get() (T, error) {
	if r.panic != nil {
		panic(r.panic)
	}
	return r.v, r.err
}

// stopped reports whether the computation was stopped by its context.
func (r *result[T]) stopped() bool {
	return r.panic == nil && (errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded))
}

// Get returns the value, which f computes the first time. Its error stays, too,
// beside whatever part of a value f returned with it; and so does its panic, which
// everybody gets who asks: there is no value. An error of a context that ended is
// not kept: the computation was stopped, and the next that asks computes anew.
func (l *Value[T]) Get(f func() (T, error)) (T, error) {
	for {
		if r := l.result.Load(); r != nil {
			return r.get()
		}
		c, first := l.join(nil)
		if first {
			l.compute(c, f)
			return c.result.get()
		}
		<-c.ended
	}
}

// GetContext is Get for what takes long: whoever waits may leave when ctx ends, with its error, while f goes on for the
// others. The context that f gets ends when nobody wants the value any more; the last to leave waits for f to end, so
// that nothing is at work behind it. Values of the context are those of who came first.
func (l *Value[T]) GetContext(ctx context.Context, f func(ctx context.Context) (T, error)) (T, error) {
	for {
		if r := l.result.Load(); r != nil {
			return r.get()
		}
		if err := ctx.Err(); err != nil {
			var none T
			return none, err
		}
		c, first := l.join(&wantedContext{Context: context.WithoutCancel(ctx), first: ctx, done: make(chan struct{})})
		if first {
			go l.compute(c, func() (T, error) { return f(c.wanted) })
		}
		select {
		case <-c.ended:
			if first {
				return c.result.get()
			}
		case <-ctx.Done():
			l.leave(c, first)
			var none T
			return none, ctx.Err()
		}
	}
}

// Known returns the value if it was computed without an error, and computes nothing.
func (l *Value[T]) Known() (T, bool) {
	r := l.result.Load()
	if r == nil || r.panic != nil || r.err != nil {
		var none T
		return none, false
	}
	return r.v, true
}

// Take returns the value if it was computed without an error, and forgets it: the next that asks computes it anew. It
// is for who gives back what the value holds, and waits for a computation that is going on.
func (l *Value[T]) Take() (T, bool) {
	for {
		l.mu.Lock()
		c := l.run
		if c == nil {
			v, ok := l.Known()
			if ok {
				l.result.Store(nil)
			}
			l.mu.Unlock()
			return v, ok
		}
		l.mu.Unlock()
		<-c.ended
	}
}

// A run is one computation, with those who wait for it.
type run[T any] struct {
	ended  chan struct{}
	result *result[T]     // once it ended
	wanted *wantedContext // nil where who computes does not leave
	users  atomic.Int32   // changed under the Value's mu
}

// join takes part in the computation that is going on. It reports whether there was none: then the caller has it
// computed. wanted is the context of a new one, nil where who computes does not leave.
func (l *Value[T]) join(wanted *wantedContext) (c *run[T], first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.result.Load(); r != nil { // it ended a moment ago
		c = &run[T]{ended: make(chan struct{}), result: r}
		close(c.ended)
		return c, false
	}
	if l.run == nil {
		l.run, first = &run[T]{ended: make(chan struct{}), wanted: wanted}, true
		if wanted != nil {
			wanted.users = &l.run.users
		}
	}
	l.run.users.Add(1)
	return l.run, first
}

// leave is for one who wants the value no more, and who may be the first that wanted it. Where that is the last one,
// the computation is stopped and waited for.
func (l *Value[T]) leave(c *run[T], first bool) {
	l.mu.Lock()
	if first && c.wanted != nil {
		c.wanted.firstLeft.Store(true)
	}
	last := c.users.Add(-1) == 0 && c.wanted != nil
	if last {
		c.wanted.ended.Store(true)
		close(c.wanted.done)
	}
	l.mu.Unlock()
	if last {
		<-c.ended
	}
}

// compute runs f, and keeps its result unless it was stopped.
func (l *Value[T]) compute(c *run[T], f func() (T, error)) {
	r := &result[T]{}
	defer func() {
		if v := recover(); v != nil {
			r.panic = workers.Caught(v)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if !r.stopped() {
			l.result.Store(r)
		}
		c.result, l.run = r, nil
		close(c.ended)
	}()
	r.v, r.err = f()
}

// A wantedContext ends when nobody wants what is computed any more.
type wantedContext struct {
	context.Context // the values of who came first

	first     context.Context
	firstLeft atomic.Bool
	users     *atomic.Int32
	ended     atomic.Bool
	done      chan struct{}
}

// Done is closed when c ends.
func (c *wantedContext) Done() <-chan struct{} { return c.done }

// Err is context.Canceled once c has ended, which may be before the one who has to tell, who waits, has got round to
// it.
func (c *wantedContext) Err() error {
	if c.ended.Load() || !c.firstLeft.Load() && c.users.Load() == 1 && c.first.Err() != nil {
		return context.Canceled
	}
	return nil
}
