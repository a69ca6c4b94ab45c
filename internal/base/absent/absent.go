// Package absent replaces nil arguments with values that are empty or fail, so that the code that
// uses them needs no checks for nil. Only entry points of a package call it.
package absent

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/target"
)

// errNoProcess is the error of every read.
var errNoProcess = target.Unsupportedf("no process is open")

// process is a target without memory, modules and threads.
type process struct{}

func (process) ReadMemory(p []byte, a target.Addr) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return 0, &target.MemoryError{Addr: a, Size: len(p), Err: errNoProcess}
}
func (process) View(target.Addr, int) ([]byte, bool)       { return nil, false }
func (process) Span(target.Addr) []byte                    { return nil }
func (process) NextStored(target.Addr) (target.Addr, bool) { return 0, false }
func (process) Platform() target.Platform                  { return target.Platform{} }
func (process) Process() target.Process                    { return target.Process{} }
func (process) Modules() []target.Module                   { return nil }
func (process) Threads() []target.Thread                   { return nil }
func (process) Regions() iter.Seq[target.Region]           { return func(func(target.Region) bool) {} }
func (process) Exception() (target.Exception, bool)        { return target.Exception{}, false }
func (process) Warnings() []error                          { return []error{errNoProcess} }

// Process returns t, or a target that holds nothing if t is nil.
func Process(t target.Target) target.Target {
	if t == nil {
		return process{}
	}
	return t
}

// Memory returns m, or a memory that holds nothing if m is nil.
func Memory(m target.Memory) target.Memory {
	if m == nil {
		return process{}
	}
	return m
}

// Context returns ctx, or the background context if ctx is nil.
func Context(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Seq returns s, or an empty sequence if s is nil.
func Seq[T any](s iter.Seq[T]) iter.Seq[T] {
	if s == nil {
		return func(func(T) bool) {}
	}
	return s
}

// Func returns f, or a function that fails if f is nil.
func Func[T any](f func() (T, error)) func() (T, error) {
	if f == nil {
		return func() (zero T, err error) { return zero, errNoProcess }
	}
	return f
}
