package process

import "github.com/sosgo/sosgo/internal/base/lazy"

// PerProcess returns a function that returns the T of a process. The first call for a process makes the value. The
// value, or its error, is kept as long as the process. Packages above this one keep their readers so:
//
//	var readers = process.PerProcess(newReader)
//
//	// Of returns the process's reader of tasks.
//	func Of(p *process.Process) (*Reader, error) { return readers(p) }
//
// The function is safe for concurrent use.
func PerProcess[T any](make func(*Process) (T, error)) func(*Process) (T, error) {
	key := new(extension)
	return func(p *Process) (T, error) {
		v, _ := p.above.LoadOrStore(key, new(lazy.Value[T]))
		return v.(*lazy.Value[T]).Get(func() (T, error) { return make(p) })
	}
}

// PerDump is PerProcess for a value that all runtimes of a dump share.
func PerDump[T any](make func(*Dump) (T, error)) func(*Dump) (T, error) {
	key := new(extension)
	return func(d *Dump) (T, error) {
		v, _ := d.above.LoadOrStore(key, new(lazy.Value[T]))
		return v.(*lazy.Value[T]).Get(func() (T, error) { return make(d) })
	}
}

// An extension identifies one call of PerProcess or PerDump.
type extension struct{ _ byte }
