// Package workers runs functions on goroutines. A panic of such a goroutine reaches the goroutine
// that waits for it; a panic of a plain goroutine would end the program. Start reading at Group;
// Each and Ordered divide work.
package workers

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// A Panic is the value that Wait panics with: the first panic of a goroutine, with its stack.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// A Group is a set of goroutines to wait for. The zero Group is ready for use.
type Group struct {
	wg    sync.WaitGroup
	first sync.Once
	panic *Panic
}

// Go runs f on a goroutine. A memory fault in f, for example in a mapped file that was truncated,
// is a panic too.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		debug.SetPanicOnFault(true)
		defer func() {
			if v := recover(); v != nil {
				g.first.Do(func() { g.panic = Caught(v) })
			}
		}()
		f()
	})
}

// Wait waits for all goroutines. If one panicked, Wait panics with a *Panic.
func (g *Group) Wait() {
	g.wg.Wait()
	if g.panic != nil {
		panic(g.panic)
	}
}

// Caught converts the result of recover to a Panic with the current stack. Call it in a deferred
// function.
func Caught(v any) *Panic {
	if p, ok := v.(*Panic); ok {
		return p
	}
	return &Panic{Value: v, Stack: debug.Stack()}
}

// Each calls f with 0 to n-1 on at most jobs goroutines and waits for them. It starts no call after
// ctx is done; the error is ctx's.
func Each(ctx context.Context, jobs, n int, f func(i int)) error {
	var next atomic.Int64
	var g Group
	for range max(1, min(jobs, n)) {
		g.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	g.Wait()
	return ctx.Err()
}

// A Lowest keeps the error with the lowest place, so that the result does not depend on the order
// of workers. The zero value has no error. It is safe for concurrent use.
type Lowest struct {
	above atomic.Uint64 // complement of the lowest place; 0 means no place yet
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
