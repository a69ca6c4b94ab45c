// Package workers runs functions on goroutines whose panics reach the goroutine that waits for them. A
// panic of a plain goroutine would end the program.
package workers

import (
	"fmt"
	"runtime/debug"
	"sync"
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
