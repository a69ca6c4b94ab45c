// Package lazy holds values that are computed when they are first asked for.
package lazy

import "context"

// A Value is computed once, by the first that asks for it; whoever asks at the same time waits. The zero Value is ready
// for use; it must not be copied after its first use.
//
// All that it does stands in a type without parameters. The compiler makes the methods of a Value of each T, and of
// what it consists of, anew for every package that can reach a structure with such a field, however far away: they were
// two thirds of the functions of most packages.
type Value[T any] struct {
	_ [0]func() // it can't be compared: a function for that would be made, too
	c computation
}

// Get returns the value, which f computes the first time. Its error stays, too, beside whatever part of a value f
// returned with it; and so does its panic, which everybody gets who asks: there is no value. An error of a context that
// ended is not kept: the computation was stopped, and the next that asks computes anew.
func (l *Value[T]) Get(f func() (T, error)) (T, error) {
	r := l.c.result.Load()
	if r == nil {
		r = l.c.get(func() (any, error) { return f() })
	}
	return of[T](r)
}

// A Long is a Value that takes long to compute, or is given back in the end: whoever waits may leave. It is a type of
// its own because of what each method costs each package (see Value).
type Long[T any] struct{ v Value[T] }

// Get returns that of a Value.
func (l *Long[T]) Get(f func() (T, error)) (T, error) { return l.v.Get(f) }

// GetContext is Get for what takes long: whoever waits may leave when ctx ends, with its error, while f goes on for the
// others. The context that f gets ends when nobody wants the value any more; the last to leave waits for f to end, so
// that nothing is at work after it. Values of the context are those of who came first.
func (l *Long[T]) GetContext(ctx context.Context, f func(ctx context.Context) (T, error)) (T, error) {
	r := l.v.c.result.Load()
	if r == nil {
		r = l.v.c.getContext(ctx, func(ctx context.Context) (any, error) { return f(ctx) })
	}
	return of[T](r)
}

// Known returns the value if it was computed without an error, and computes nothing.
func (l *Long[T]) Known() (T, bool) { return well[T](l.v.c.known()) }

// Take returns the value if it was computed without an error, and forgets it: the next that asks computes it anew. It
// is for who gives back what the value holds, and waits for a computation that is going on.
func (l *Long[T]) Take() (T, bool) { return well[T](l.v.c.take()) }

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
