// Package workers runs functions in goroutines whose panics reach the one who
// waits for them. A panic of a plain goroutine ends the program, whoever would
// have recovered from it.
package workers

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// A Panic is what Wait panics with: the first panic of a goroutine, with the stack
// on which it happened.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value, if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// A Group is goroutines that somebody waits for. The zero Group is ready.
type Group struct {
	wg    sync.WaitGroup
	first sync.Once
	panic *Panic
}

// Go runs f in a goroutine. A fault of its memory accesses, as of a mapped file that
// shrank, is a panic too.
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

// Wait waits for all goroutines. If one panicked, so does Wait, in the goroutine of
// its caller, with a *Panic.
func (g *Group) Wait() {
	g.wg.Wait()
	if g.panic != nil {
		panic(g.panic)
	}
}

// Caught returns what recover returned, with the stack of the panic. It is for deferred
// functions.
func Caught(v any) *Panic {
	if p, ok := v.(*Panic); ok {
		return p
	}
	return &Panic{Value: v, Stack: debug.Stack()}
}
