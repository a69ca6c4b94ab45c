package threadpool

import (
	"context"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/process"
)

// Of returns a Reader of the process's thread pool.
func Of(p *process.Process) (*Reader, error) {
	b, err := p.Shapes()
	if err != nil {
		return nil, err
	}
	w, err := p.Walker()
	if err != nil {
		return nil, err
	}
	list, err := p.Threads()
	if err != nil && len(list) == 0 {
		return nil, err
	}
	return New(b, w, list, err), nil
}

// pooled computes an answer with the process's Reader.
func pooled[T any](ctx context.Context, p *process.Process, compute func(ctx context.Context, r *Reader) (T, error)) (T, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (none T, err error) {
		r, err := Of(p)
		if err != nil {
			return none, err
		}
		return compute(ctx, r)
	})
}

// Pool describes the thread pool: its workers and limits, the queued items, and whether it keeps up. A pool that looks
// starved is judged by waits and pauses, which locks.ThreadPool passes. If neither the workers nor the queues can be read, the
// answer comes with that error.
func Pool(ctx context.Context, p *process.Process, o Options, waits ReadWaits, pauses ReadPauses) (*answer.ThreadPool, error) {
	o.waits, o.pauses = waits, pauses
	return pooled(ctx, p, func(ctx context.Context, r *Reader) (*answer.ThreadPool, error) {
		out, err := r.Describe(ctx, o)
		if err != nil {
			return nil, err
		}
		return process.UnlessEmpty(out, len(out.Workers) == 0 && out.Total.Err() != nil, out.Queued.Err())
	})
}

// WorkQueues lists the items queued in the thread pool.
func WorkQueues(ctx context.Context, p *process.Process) (*answer.WorkQueues, error) {
	return pooled(ctx, p, func(ctx context.Context, r *Reader) (*answer.WorkQueues, error) {
		out, err := r.Queues(ctx)
		if err != nil {
			return nil, err
		}
		return process.UnlessEmpty(out, len(out.Queues) == 0, out.Lost)
	})
}

// Timers lists the scheduled timers.
func Timers(ctx context.Context, p *process.Process) (*answer.Timers, error) {
	return pooled(ctx, p, func(ctx context.Context, r *Reader) (*answer.Timers, error) {
		out, err := r.Timers(ctx)
		if err != nil {
			return nil, err
		}
		return process.UnlessEmpty(out, len(out.Timers) == 0, out.Lost)
	})
}
