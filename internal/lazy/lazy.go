// Package lazy holds values that are computed when they are first asked for.
package lazy

import (
	"context"

	"github.com/sosgo/sosgo/internal/atomicptr"
)

// A Value is computed once, by the first that asks for it; whoever asks at the same time waits. The zero Value is ready
// for use; it must not be copied after its first use.
//
// It has functions in place of methods, and what they do stands in a type without parameters: methods of each T would be
// compiled for every package that can reach a structure with such a field (see package atomicptr).
type Value[T any] struct {
	_ [0]func() // it can't be compared: a function for that would be made, too
	c computation
}

// Get returns the value, which f computes the first time. Its error stays, too, beside whatever part of a value f
// returned with it; and so does its panic, which everybody gets who asks: there is no value. An error of a context that
// ended is not kept: the computation was stopped, and the next that asks computes anew.
func Get[T any](l *Value[T], f func() (T, error)) (T, error) {
	r := atomicptr.Load(&l.c.result)
	if r == nil {
		r = l.c.get(func() (any, error) { return f() })
	}
	return of[T](r)
}

// GetContext is Get for what takes long: whoever waits may leave when ctx ends, with its error, while f goes on for the
// others. The context that f gets ends when nobody wants the value any more; the last to leave waits for f to end, so
// that nothing is at work after it. Values of the context are those of who came first.
func GetContext[T any](ctx context.Context, l *Value[T], f func(ctx context.Context) (T, error)) (T, error) {
	r := atomicptr.Load(&l.c.result)
	if r == nil {
		r = l.c.getContext(ctx, func(ctx context.Context) (any, error) { return f(ctx) })
	}
	return of[T](r)
}

// Known returns the value if it was computed without an error, and computes nothing.
func Known[T any](l *Value[T]) (T, bool) { return well[T](l.c.known()) }

// Take returns the value if it was computed without an error, and forgets it: the next that asks computes it anew. It
// is for who gives back what the value holds, and waits for a computation that is going on.
func Take[T any](l *Value[T]) (T, bool) { return well[T](l.c.take()) }

// of converts a result to the type of a Value.
func of[T any](r *result) (T, error) {
	if r.panic != nil {
		panic(r.panic)
	}
	v, _ := r.v.(T) // a nil of an interface has no type
	return v, r.err
}

// well returns the value of a result without an error, which is nil if there is none.
func well[T any](r *result) (v T, ok bool) {
	if r != nil {
		v, _ = r.v.(T)
	}
	return v, r != nil
}
