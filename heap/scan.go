package heap

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/workers"
	"github.com/sosgo/sosgo/target"
)

// A Span is the part of a segment that a scan looks at: the objects that start
// in Range.
type Span struct {
	Segment *Segment
	Range   target.Range
}

// A Collector gathers what a scan is after from a run of consecutive objects.
// One goroutine at a time uses it.
type Collector interface {
	// Objects is given objects of a segment in address order. The slice is
	// valid during the call.
	Objects(s *Segment, batch []Object)
	// Corrupt is told where the walk could not go on.
	Corrupt(c *Corruption)
	// Reset forgets what was gathered, so that the Collector can be used again.
	Reset()
}

// ScanOptions say how to scan. The zero value uses all processors.
type ScanOptions struct {
	Jobs int // goroutines; 0 stands for one a processor
	// Progress, if not nil, is told the bytes of the heap that are done, by the
	// caller's goroutine. The last call of a scan that comes to its end, and only
	// that, has done equal to total.
	Progress func(done, total uint64)

	runSize target.Addr // bytes; 0 stands for defaultRun
}

func (o *ScanOptions) jobs() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// Scan walks the Spans of a filter with several goroutines. Each run of objects is
// gathered in a Collector of its own, and merge is called with these in the order of
// the spans and addresses, by the caller's goroutine: the result is the same for
// any number of workers. A merged Collector is Reset and used again.
//
// Segments are cut into runs where objects certainly start: at a cut a worker
// guesses the first object, and what it gathered counts only if the run before
// ended there; otherwise the run is walked again from where that ended.
//
// Scan returns an error where the heap has what the filter chooses and nothing of it can be read, the context's error if
// it was canceled, or merge's first error.
func Scan[C Collector](ctx context.Context, h *Heap, f *Filter, o ScanOptions, create func() C, merge func(C) error) error {
	spans := h.Spans(f)
	if err := h.unreadOf(f, spans); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := o.jobs()
	// Twice as many runs as workers may be finished and wait for their turn.
	s := scanner[C]{h: h, ctx: ctx, runSize: cmp.Or(o.runSize, defaultRun), cancel: cancel, create: create, queue: make(chan *run[C], 2*jobs), order: make(chan *run[C], 2*jobs)}
	var group workers.Group
	defer group.Wait()
	for range jobs {
		group.Go(s.work)
	}
	group.Go(func() { s.feed(spans) })
	err := s.merge(spans, o.Progress, merge)
	cancel()
	return err
}

// TypeNumber numbers the type of an object of a walk, from 0. The numbers depend on
// which walk met a type first: no result may show them.
func (o *Object) TypeNumber() uint32 { return o.typeID }

// TypeByNumber is the type of the objects with a TypeNumber.
func (h *Heap) TypeByNumber(n uint32) *dac.MethodTable { return h.types.get(n).mt }

// TypeAt is the type of the objects that have a in their headers, as a walk takes it. The error says why no object has.
func (h *Heap) TypeAt(a target.Addr) (*dac.MethodTable, error) {
	t, err := h.types.lookup(a)
	if err != nil {
		return nil, err
	}
	return t.mt, nil
}

// Stored are the parts of the segments' objects that the dump holds, by address;
// none goes from one segment into another.
func (h *Heap) Stored() []target.Range { return h.held }

// Memory is what the dump holds of the process: the heap's objects are read there
// alone, no module's file supplies them.
func (h *Heap) Memory() target.Memory { return h.mem }

// defaultRun is how many bytes of the heap one worker walks at a time: a region's
// size, so that most regions are one run.
const defaultRun = 4 << 20

// A run is a part of a span that is walked at once: from an object's start near
// from, to the first object at or behind to.
type run[C Collector] struct {
	span     Span
	from, to target.Addr
	first    bool // from is the segment's start, and not a guess

	done       chan struct{} // closed when the rest is valid
	into       C
	start, end target.Addr // where the walk began and ended; start is 0 if no start was found
}

type scanner[C Collector] struct {
	h            *Heap
	ctx          context.Context
	cancel       context.CancelFunc
	runSize      target.Addr // bytes
	create       func() C
	queue, order chan *run[C]
	spare        sync.Pool
}

// feed makes runs of the spans. It ends the workers when it is done.
func (s *scanner[C]) feed(spans []Span) {
	defer close(s.order)
	defer close(s.queue)
	for _, sp := range spans {
		// Large objects are few: who walks them looks at little memory, and cuts
		// would lie in the middle of them.
		size := s.runSize
		if sp.Segment.Kind == KindLarge {
			size = maxAddress
		}
		from, end := sp.Segment.Objects.Start, min(sp.Segment.Objects.End, sp.Range.End)
		for first := true; from < end; first = false {
			to := end
			if end-from > size+size/2 {
				to = from + size
			}
			// A hole is one run, however large a damaged segment claims to be.
			if next, ok := target.NextStored(s.h.mem, from); !ok {
				to = end
			} else {
				to = min(max(to, next), end)
			}
			r := &run[C]{span: sp, from: from, to: to, first: first, done: make(chan struct{})}
			select {
			case s.order <- r:
			case <-s.ctx.Done():
				return
			}
			s.queue <- r // has as much room as order
			from = to
		}
	}
}

func (s *scanner[C]) work() {
	w := newWalker(s.h)
	w.ctx = s.ctx
	for r := range s.queue {
		s.fill(w, r)
	}
}

// fill walks one run. Whatever happens, merge is not left waiting for it.
func (s *scanner[C]) fill(w *walker, r *run[C]) {
	defer close(r.done)
	if s.ctx.Err() != nil {
		return
	}
	whole := false
	defer func() {
		if !whole { // a panic, which the group passes on: nobody must merge this run
			s.cancel()
		}
	}()
	r.into = s.collector()
	r.start = r.from
	if !r.first {
		r.start = w.guess(r.span.Segment, r.from, r.to)
	}
	if r.start != 0 {
		r.end = s.walk(w, r, r.start)
	}
	whole = true
}

func (s *scanner[C]) collector() C {
	if c, ok := s.spare.Get().(C); ok {
		return c
	}
	return s.create()
}

func (s *scanner[C]) walk(w *walker, r *run[C], from target.Addr) target.Addr {
	end, _ := w.walk(r.span.Segment, from, r.to, &collecting{r.into, r.span.Range.Start, s.ctx})
	return end
}

// merge passes the runs on in order, and walks those again that began at a
// wrong guess.
func (s *scanner[C]) merge(spans []Span, progress func(done, total uint64), merge func(C) error) error {
	var w *walker
	var done, total uint64
	for _, sp := range spans {
		total += sp.Segment.Objects.Size()
	}
	var at target.Addr // where the run before ended
	for r := range s.order {
		<-r.done
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if r.first {
			at = r.from
		}
		if r.start != at {
			r.into.Reset()
			if w == nil {
				w = newWalker(s.h)
				w.ctx = s.ctx
			}
			r.end = s.walk(w, r, at)
		}
		at = r.end
		if err := s.ctx.Err(); err != nil {
			return err // in the middle of a run
		}
		if err := merge(r.into); err != nil {
			return err
		}
		r.into.Reset()
		s.spare.Put(r.into)
		if done += uint64(r.to - r.from); progress != nil && done < total {
			progress(done, total)
		}
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if progress != nil {
		progress(total, total)
	}
	return nil
}

// collecting is the sink that fills a Collector.
type collecting struct {
	into Collector
	from target.Addr // earlier objects are only passed
	ctx  context.Context
}

func (c *collecting) objects(s *Segment, batch []Object) bool {
	for len(batch) > 0 && batch[0].Addr < c.from {
		batch = batch[1:]
	}
	if len(batch) > 0 {
		c.into.Objects(s, batch)
	}
	return c.ctx.Err() == nil
}

func (c *collecting) corrupt(e *Corruption) bool {
	if e.Next > c.from {
		c.into.Corrupt(e)
	}
	return c.ctx.Err() == nil
}

// guessWindow is how far behind a cut a worker looks for an object's start. In
// a large object there is none, and to look at all of it would cost more than
// to leave it to the run before.
const guessWindow = 64 << 10

// guess returns an address at or behind from at which an object seems to start,
// 0 if there is none nearby.
func (w *walker) guess(s *Segment, from, to target.Addr) target.Addr {
	if g := w.h.gapAround(from); g.Size() > 0 {
		return g.End
	}
	limit := min(from+guessWindow, to)
	if gaps := w.h.gapsFrom(from); len(gaps) > 0 {
		limit = min(limit, gaps[0].Start)
	}
	if a := w.find(from, limit, s.Objects.End); a < limit {
		return a
	}
	return 0
}
