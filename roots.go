package sosgo

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/graph/roots"
)

// RootReader reads what keeps the objects of the runtime's heap alive; see package
// roots. Where stacks can't be walked at all, its All says so.
func (v *View) RootReader() (*roots.Reader, error) {
	return v.roots.Get(func() (*roots.Reader, error) {
		h, err := v.Heap()
		if err != nil {
			return nil, err
		}
		objects, err := v.Objects()
		if err != nil {
			return nil, err
		}
		walker, err := v.Walker()
		if err != nil {
			return nil, err
		}
		return roots.New(roots.Process{Heap: h, Objects: objects, Walker: walker, Threads: v.Threads}), nil
	})
}

// Roots iterates over what keeps objects of the runtime alive: roots.Reader.All
// with all strong roots. What can't be read is an error of the iteration, and the
// rest goes on; so does the context's error, which is the last. An object may be a
// root several times.
func (v *View) Roots(ctx context.Context) iter.Seq2[roots.Root, error] {
	r, err := v.RootReader()
	if err != nil {
		return func(yield func(roots.Root, error) bool) { yield(roots.Root{}, err) }
	}
	return r.All(ctx, roots.Options{})
}
