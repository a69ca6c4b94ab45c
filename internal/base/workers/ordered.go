package workers

import (
	"context"
)

// Ordered runs n pieces of work on several goroutines and passes the results to take, in order, on
// the caller's goroutine. The outcome does not depend on the number of workers.
//
// state creates the state of each goroutine. produce makes one piece; reuse is the zero value or a
// piece that take has finished with, for its memory. At most two pieces per worker exist at a time.
// Ordered ends with the first error of produce or take, or with ctx's.
func Ordered[S, T any](ctx context.Context, jobs, n int, state func() S, produce func(s S, piece int, reuse T) (T, error), take func(T) error) error {
	jobs = max(1, min(jobs, n))
	slots := 2 * jobs
	o := ordered[T]{slots: make([]slot[T], slots), turn: make(chan int, slots), died: make(chan struct{}, jobs)}
	for i := range o.slots {
		o.slots[i].ready = make(chan error, 1)
	}
	var g Group
	for range jobs {
		g.Go(func() {
			whole := false
			defer func() {
				if !whole {
					o.died <- struct{}{}
				}
			}()
			s := state()
			for piece := range o.turn {
				at := &o.slots[piece%slots]
				var err error
				at.value, err = produce(s, piece, at.value)
				at.ready <- err
			}
			whole = true
		})
	}
	err := o.takeAll(ctx, n, take)
	close(o.turn)
	g.Wait()
	return err
}

type ordered[T any] struct {
	slots []slot[T]
	turn  chan int      // pieces with a free slot
	died  chan struct{} // a goroutine panicked; Wait reports it
}

type slot[T any] struct {
	value T
	ready chan error
}

func (o *ordered[T]) takeAll(ctx context.Context, n int, take func(T) error) error {
	for piece := range min(n, len(o.slots)) {
		o.turn <- piece
	}
	for piece := range n {
		at := &o.slots[piece%len(o.slots)]
		select {
		case err := <-at.ready:
			if err != nil {
				return err
			}
		case <-o.died:
			return nil // Wait panics
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := take(at.value); err != nil {
			return err
		}
		if next := piece + len(o.slots); next < n {
			o.turn <- next
		}
	}
	return ctx.Err()
}
