package locks

import (
	"context"
	"time"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/threadpool"
	"github.com/sosgo/sosgo/internal/app/web"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// Of returns a Reader of the locks of a process and of the waits of its threads.
func Of(p *process.Process) (*Reader, error) {
	b, err := p.Shapes()
	if err != nil {
		return nil, err
	}
	h, err := p.Heap()
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
	r := New(p.Target(), b, h, w, list, err)
	if w, err := web.Of(p); err == nil {
		r.NameRequests(w.ServedBy)
	}
	return r, nil
}

// Waits lists what threads and suspended async methods wait for, and where the waits lead: deadlocks, held locks,
// semaphores without permits, tasks that block threads. If no wait was found because something could not be read, the
// answer comes with that error.
func Waits(ctx context.Context, p *process.Process, o Options) (*answer.Waits, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Waits, error) {
		r, err := Of(p)
		if err != nil {
			return nil, err
		}
		r.texts = c.Reword
		o.Scan = c.Scan("looking for locks", o.Scan)
		o.paused = p.State(answer.NoCollection) != answer.PremiseHolds
		o.whole = p.State(answer.HeapWhole) == answer.PremiseHolds && !o.paused
		if o.whole && !o.NoGraph {
			o.graph = func() (*graph.Graph, error) { return wholeGraph(ctx, p) }
		}
		o.calls = func() map[target.Addr]time.Duration { return callsOf(ctx, p) }
		out, err := r.Waits(ctx, o)
		if err != nil {
			return nil, err
		}
		return process.UnlessEmpty(out, len(out.Threads)+len(out.Operations)+len(out.Verdicts) == 0, out.Lost)
	})
}

// errHoles is the error of a graph without all roots and references: what it does not reach may live all the same.
var errHoles = target.Unsupportedf("a graph without all roots and references")

// wholeGraph returns the graph of the heap if it has all roots and references.
func wholeGraph(ctx context.Context, p *process.Process) (*graph.Graph, error) {
	g, err := p.Graph(ctx, graph.Options{})
	if err == nil && !g.Stats().Complete() {
		err = errHoles
	}
	return g, err
}

// ThreadPool describes the thread pool: its workers and limits, the queued items, and whether it keeps up. What the
// workers wait for decides about a pool that looks starved, for which it reads the graph of the heap. If neither the workers nor the queues can be read, the
// answer comes with that error.
func ThreadPool(ctx context.Context, p *process.Process, o threadpool.Options) (*answer.ThreadPool, error) {
	return threadpool.Pool(ctx, p, o, func() (*answer.Waits, error) { return Waits(ctx, p, Options{}) }, Pauses(ctx, p))
}

// Pauses returns the sleeps of the threads of a process. It is for threadpool.Pool, and reads no heap.
func Pauses(ctx context.Context, p *process.Process) threadpool.ReadPauses {
	var s *survey
	return func(thread uint32) (length time.Duration, known bool) {
		if s == nil {
			r, err := Of(p)
			if err != nil {
				return 0, false
			}
			s = &survey{r: r, ctx: ctx}
		}
		for i := range s.r.threads {
			if t := &s.r.threads[i]; t.OS != nil && t.Managed != nil && t.ID() == thread {
				length, known = s.sleepOf(t)
				return length, known && length >= 0 && !s.inLoop(t)
			}
		}
		return 0, false
	}
}

// Locks lists the locks that a thread or async method holds or waits for. If no lock was found because something could
// not be read, the answer comes with that error.
func Locks(ctx context.Context, p *process.Process, o Options) (*answer.Locks, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Locks, error) {
		r, err := Of(p)
		if err != nil {
			return nil, err
		}
		r.texts = c.Reword
		o.Scan = c.Scan("looking for locks", o.Scan)
		out, err := r.Describe(ctx, o)
		if err != nil {
			return nil, err
		}
		return process.UnlessEmpty(out, len(out.Locks) == 0, out.Lost)
	})
}

// Initializers lists the classes with an initializer (static constructor) that threw an exception.
func Initializers(ctx context.Context, p *process.Process) (*answer.Initializers, error) {
	return process.Answer(ctx, p, func(ctx context.Context, c *process.Call) (*answer.Initializers, error) {
		b, err := c.Shapes()
		if err != nil {
			return nil, err
		}
		return findInitializers(ctx, b, c.ObjectHeap, c.Scan("looking for exceptions", heap.ScanOptions{}))
	})
}
