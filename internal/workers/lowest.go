package workers

import (
	"math"
	"sync"
	"sync/atomic"
)

// A Lowest keeps one of the errors that workers meet: that of the lowest place, so that what is told does not depend on
// which worker was first. The zero value has none.
type Lowest struct {
	above atomic.Uint64 // the complement of the lowest place: the zero value is above all
	mu    sync.Mutex
	err   error
}

// Note records an error and the place, such as an address, where it was met. No error is nothing.
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

// Err returns the error of the lowest place, nil where none was noted.
func (l *Lowest) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
