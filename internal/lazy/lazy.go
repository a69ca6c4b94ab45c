// Package lazy holds values that are computed when they are first asked for.
package lazy

import "sync"

// A Value is computed once, by the first that asks for it; whoever asks at the
// same time waits. The zero Value is ready for use; it must not be copied after
// its first use.
type Value[T any] struct {
	once sync.Once
	v    T
	err  error
}

// Get returns the value, which f computes the first time. Its error stays, too,
// beside whatever part of a value f returned with it.
func (l *Value[T]) Get(f func() (T, error)) (T, error) {
	l.once.Do(func() { l.v, l.err = f() })
	return l.v, l.err
}
