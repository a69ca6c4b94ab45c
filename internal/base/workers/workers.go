// Package workers runs functions on goroutines whose panics reach the goroutine that waits for them. A
// panic of a plain goroutine would end the program.
package workers

import (
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/internal/base/absent"
)

// A Panic is the value with which Wait panics: the first panic of a goroutine, with its stack.
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

// Go runs f on a goroutine. A fault of its memory accesses, such as a shrunken mapped file, is a panic too.
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

// Caught returns what recover returned, with the stack of the panic. It is for deferred functions.
func Caught(v any) *Panic {
	if p, ok := v.(*Panic); ok {
		return p
	}
	return &Panic{Value: v, Stack: debug.Stack()}
}

// Each calls f with 0 to n-1 on at most jobs goroutines and waits for them. No call begins after ctx is done; the error is ctx's.
func Each(ctx context.Context, jobs, n int, f func(i int)) error {
	ctx = absent.Context(ctx)
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
