package workers

import (
	"math"
	"sync"
	"sync/atomic"
)

// A Lowest keeps the error of the lowest place among those that workers meet, so that the result does
// not depend on which worker was first. The zero value has none.
type Lowest struct {
	above atomic.Uint64 // complement of the lowest place, so that the zero value is above all places
	mu    sync.Mutex
	err   error
}

// Note records an error and its place, such as an address. A nil error is ignored.
func (l *Lowest) Note(place uint64, err error) {
	key := math.MaxUint64 - place
	if err == nil || l.above.Load() > key {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil || key > l.above.Load() {
		l.err = err
		l.above.Store(key)
	}
}

// Err returns the error of the lowest place, or nil.
func (l *Lowest) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
