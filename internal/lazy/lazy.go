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
	mu    sync.Mutex
	done  atomic.Bool
	v     T
	err   error
	panic *workers.Panic
}

// Get returns the value, which f computes the first time. Its error stays, too,
// beside whatever part of a value f returned with it; and so does its panic, which
// everybody gets who asks: there is no value. An error of a context that ended is
// not kept: the computation was stopped, and the next that asks computes anew.
func (l *Value[T]) Get(f func() (T, error)) (T, error) {
	if !l.done.Load() {
		if v, err := l.first(f); !l.done.Load() {
			return v, err
		}
	}
	if l.panic != nil {
		panic(l.panic)
	}
	return l.v, l.err
}

// Known returns the value if it was computed without an error, and computes nothing.
func (l *Value[T]) Known() (T, bool) {
	if !l.done.Load() || l.panic != nil || l.err != nil {
		var none T
		return none, false
	}
	return l.v, true
}

// Take returns the value if it was computed without an error, and forgets it: the next
// that asks computes it anew. It is for who gives back what the value holds.
func (l *Value[T]) Take() (T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, ok := l.Known()
	if ok {
		var none T
		l.v = none
		l.done.Store(false)
	}
	return v, ok
}

// first computes the value, unless another one has by now.
func (l *Value[T]) first(f func() (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done.Load() {
		return l.v, l.err
	}
	l.compute(f)
	v, err := l.v, l.err
	if l.panic == nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		var none T
		l.v, l.err = none, nil
	} else {
		l.done.Store(true)
	}
	return v, err
}

func (l *Value[T]) compute(f func() (T, error)) {
	defer func() {
		if v := recover(); v != nil {
			l.panic = workers.Caught(v)
		}
	}()
	l.v, l.err = f()
}
