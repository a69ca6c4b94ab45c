package workers

import "context"

// Ordered has n pieces of work done by several goroutines and passes what they made to take, in the order of the pieces
// and in the caller's goroutine: what it does with them is the same for any number of workers. state makes what each
// goroutine has of its own. produce makes one piece; what it is given is the zero value, or a piece that take is done
// with and whose memory may be used again. At most two pieces a worker are held at a time. The first error, of a piece or
// of take, is the end; so is the context's.
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
	turn  chan int      // pieces whose slot is free
	died  chan struct{} // a goroutine panicked, which Wait tells
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
