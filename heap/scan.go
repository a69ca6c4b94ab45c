package heap

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/base/workers"
	"github.com/sosgo/sosgo/target"
)

// A Span is the part of a segment that a scan reads: the objects that start in Range.
type Span struct {
	Segment *Segment
	Range   target.Range
}

// A Collector gathers the results of a scan from a run of consecutive objects. One goroutine at a time uses it.
type Collector interface {
	// Objects receives objects of a segment in address order. The slice is valid during the call.
	Objects(s *Segment, batch []Object)
	// Corrupt receives a place where the walk had to skip memory.
	Corrupt(c *Corruption)
	// Reset drops the results, so that the Collector can be reused.
	Reset()
}

// ScanOptions configures a scan. The zero value uses all processors.
type ScanOptions struct {
	Jobs int // goroutines; 0 means one per processor
	// Progress, if not nil, receives the bytes of the heap that are done, on the caller's goroutine.
	// Only the last call of a complete scan has done equal to total.
	Progress func(done, total uint64)

	runSize target.Addr // in bytes; 0 means defaultRun
}

func (o *ScanOptions) jobs() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// Scan walks the Spans of a filter on several goroutines. Each run of objects gets its own Collector. The
// caller's goroutine calls merge with them in the order of spans and addresses, so the result does not depend
// on the number of workers. A merged Collector is Reset and reused.
//
// Segments are cut into runs at known object starts. At other cuts a worker guesses the first object. Its
// results count only if the previous run ended there; otherwise the run is walked again from that end.
//
// Scan returns an error if the filter selects objects that may exist and all are unreadable, ctx's error if it
// was canceled, or the first error of merge.
func Scan[C Collector](ctx context.Context, h *Heap, f *Filter, o ScanOptions, create func() C, merge func(C) error) error {
	spans := h.Spans(f)
	if err := h.unreadOf(f, spans); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := o.jobs()
	// Twice as many runs as workers may be finished and waiting for their turn.
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

// TypeNumber returns the number of a walked object's type, from 0. It depends on the walk that met the type
// first, so results must not show it.
func (o *Object) TypeNumber() uint32 { return o.typeID }

// TypeName returns the name of a walked object's type in C# syntax.
func (h *Heap) TypeName(o Object) (string, error) {
	if o.Type == nil {
		return "", errNoObject
	}
	return h.Runtime().TypeName(o.Type.Addr, dac.NameManaged)
}

// TypeByNumber returns the type with a TypeNumber.
func (h *Heap) TypeByNumber(n uint32) *dac.MethodTable {
	if t := h.types.get(n); t != nil {
		return t.mt
	}
	return nil
}

// TypeAt returns the type of objects with a in their headers, as a walk sees it. The error says why there can
// be no such type.
func (h *Heap) TypeAt(a target.Addr) (*dac.MethodTable, error) {
	t, err := h.types.lookup(a)
	if err != nil {
		return nil, err
	}
	return t.mt, nil
}

// Stored returns the stored parts of the segments' objects, by address. No part spans two segments.
func (h *Heap) Stored() []target.Range { return slices.Clone(h.held) }

// Memory returns the memory in the dump itself. Objects are read only there; module files do not supply them.
func (h *Heap) Memory() target.Memory { return h.mem }

// defaultRun is the number of bytes of the heap that a worker walks at a time: a region's size, so that most
// regions are one run.
const defaultRun = 4 << 20

// A run is the part of a span walked at once: from an object's start near from to the first object at or after to.
type run[C Collector] struct {
	span     Span
	from, to target.Addr
	first    bool // from is the segment's start, not a guess

	done       chan struct{} // closed when the fields below are valid
	into       C
	start, end target.Addr // where the walk started and ended; start is 0 without an object
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

// feed cuts the spans into runs. It ends the workers when it is done.
func (s *scanner[C]) feed(spans []Span) {
	defer close(s.order)
	defer close(s.queue)
	for _, sp := range spans {
		// Large objects are few: walking them reads little memory, and cuts would be inside of them.
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
			s.queue <- r // has as much capacity as order
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

// fill walks one run. It always closes r.done, so that merge does not wait forever.
func (s *scanner[C]) fill(w *walker, r *run[C]) {
	defer close(r.done)
	if s.ctx.Err() != nil {
		return
	}
	whole := false
	defer func() {
		if !whole { // a panic, which the group passes on: this run must not be merged
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

// merge passes on the runs in order. It repeats runs that started at a wrong guess.
func (s *scanner[C]) merge(spans []Span, progress func(done, total uint64), merge func(C) error) error {
	var w *walker
	var done, total uint64
	for _, sp := range spans {
		total += sp.Segment.Objects.Size()
	}
	var at target.Addr // where the previous run ended
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
	from target.Addr // earlier objects are only passed over
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

// guessWindow is the distance in bytes after a cut in which a worker searches for an object's start. A large
// object has none inside, and searching all of it would cost more than leaving it to the previous run.
const guessWindow = 64 << 10

// guess returns an address at or after from where an object seems to start, or 0.
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
