// Package lazy holds values that are computed when they are first asked for.
package lazy

import (
	"sync"

	"github.com/sosgo/sosgo/internal/workers"
)

// A Value is computed once, by the first that asks for it; whoever asks at the
// same time waits. The zero Value is ready for use; it must not be copied after
// its first use.
type Value[T any] struct {
	once  sync.Once
	v     T
	err   error
	panic *workers.Panic
}

// Get returns the value, which f computes the first time. Its error stays, too,
// beside whatever part of a value f returned with it; and so does its panic, which
// everybody gets who asks: there is no value.
func (l *Value[T]) Get(f func() (T, error)) (T, error) {
	l.once.Do(func() { l.compute(f) })
	if l.panic != nil {
		panic(l.panic)
	}
	return l.v, l.err
}

func (l *Value[T]) compute(f func() (T, error)) {
	defer func() {
		if v := recover(); v != nil {
			l.panic = workers.Caught(v)
		}
	}()
	l.v, l.err = f()
}
