// Package lazy computes values when they are first needed.
//
// A Value keeps what its first Get computed. GetContext is for long computations: a caller may
// leave, and the computation stops when the last one has left. Start reading at Value.
package lazy

import "context"

// A Value is computed once, by the first caller that needs it. Callers that arrive meanwhile wait.
// The zero Value is ready for use. A Value is safe for concurrent use and must not be copied after
// its first use.
type Value[T any] struct {
	c computation
}

// Get returns the value. f computes it at the first call; Get keeps its value and its error. If f
// panics, every later Get panics with the same value. If f fails because a context ended, nothing
// is kept, and the next Get computes again.
func (l *Value[T]) Get(f func() (T, error)) (T, error) {
	r := l.c.result.Load()
	if r == nil {
		r = l.c.get(func() (any, error) { return f() })
	}
	return typedResult[T](r)
}

// GetContext is Get for long computations. A caller returns with ctx's error when ctx ends, while f
// continues for the others. f's context has the values of the first caller's context. It ends when
// the last caller leaves; that caller waits until f returns.
func (l *Value[T]) GetContext(ctx context.Context, f func(ctx context.Context) (T, error)) (T, error) {
	r := l.c.result.Load()
	if r == nil {
		r = l.c.getContext(ctx, func(ctx context.Context) (any, error) { return f(ctx) })
	}
	return typedResult[T](r)
}

// Known returns the value if it was computed without an error. It computes nothing.
func (l *Value[T]) Known() (T, bool) { return valueOf[T](l.c.loadValue()) }

// Take returns the value if it was computed without an error, and forgets it: the next Get computes
// it again. Owners call it to release what the value holds. It waits for a computation in progress.
func (l *Value[T]) Take() (T, bool) { return valueOf[T](l.c.take()) }

// typedResult converts a result to the type of a Value. It panics if the computation did.
func typedResult[T any](r *result) (T, error) {
	if r.panic != nil {
		panic(r.panic)
	}
	v, _ := r.v.(T) // a nil interface has no type
	return v, r.err
}

// valueOf returns the value of a result without an error. ok is false if r is nil.
func valueOf[T any](r *result) (v T, ok bool) {
	if r != nil {
		v, _ = r.v.(T)
	}
	return v, r != nil
}
