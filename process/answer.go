package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// ErrNoThread is the error of an answer about a thread if none is given.
var ErrNoThread = errors.New("no thread was given")

// A Call computes one answer about a process. It collects what the answer lacks.
type Call struct {
	*Process
	ctx   context.Context
	notes []error
	graph *graph.Graph // its notes become notes of the answer; nil if it is not used
}

// Answer computes an answer. The context that compute receives ends when ctx does or the dump is closed; so do lists of the
// answer that are read later. What compute notes becomes a part of an answer with answer.Gaps, and goes to the function of
// WithNotes otherwise. The error is ErrNoDump for a nil Process, ErrClosed for a closed dump, or compute's. Close waits until
// Answer returns.
func Answer[T any](ctx context.Context, p *Process, compute func(ctx context.Context, c *Call) (T, error)) (T, error) {
	var none T
	if p == nil || p.dump == nil || p.err == ErrNoDump {
		return none, ErrNoDump
	}
	ctx, done, err := p.dump.users.UseLasting(background(ctx))
	if err != nil {
		return none, err
	}
	defer done()
	c := &Call{Process: p, ctx: ctx}
	out, err := compute(ctx, c)
	if err != nil && ctx.Err() != nil {
		return none, ctx.Err() // the dump was closed, or the caller's context ended
	}
	if gaps := answer.GapsOf(out); gaps != nil {
		gaps.NoteFirst(c.notes)
		if c.graph != nil {
			gaps.NoteAll(c.graph.Notes())
		}
	} else if f, ok := ctx.Value(notesKey{}).(func(error)); ok {
		for _, note := range c.notes {
			f(note)
		}
	}
	return out, err
}

// Note records what the answer lacks. Nil is ignored.
func (c *Call) Note(err error) {
	if err != nil {
		c.notes = append(c.notes, err)
	}
}

// TakeNotes returns what was noted so far and forgets it, for answers that place the notes themselves.
func (c *Call) TakeNotes() []error {
	notes := c.notes
	c.notes = nil
	return notes
}

// NotedHeap opens the heap for an answer about parts of it, and notes the heap's warnings.
func (c *Call) NotedHeap() (*heap.Heap, error) {
	h, err := c.Heap()
	if err == nil {
		c.notes = append(c.notes, h.Warnings()...)
	}
	return h, err
}

// ObjectHeap opens the heap for an answer that needs its objects. A heap without a readable segment is an error. It notes the
// heap's warnings, and a collection in progress.
func (c *Call) ObjectHeap() (*heap.Heap, error) {
	h, err := c.Heap()
	if err != nil {
		return nil, err
	}
	if err := h.Unread(); err != nil {
		return nil, err
	}
	if h.InGC() {
		c.Note(target.Corruptf("the dump was taken during a garbage collection: the heap is read as far as it is sound"))
	}
	c.notes = append(c.notes, h.Warnings()...)
	return h, nil
}

// NamedHeap is ObjectHeap for an answer that finds objects by the names of their types. It fails if no object can be read, and
// if the metadata of no module can be read: types have no names then, and the error is the first module's.
func (c *Call) NamedHeap() (*heap.Heap, error) {
	h, err := c.ObjectHeap()
	if err != nil {
		return nil, err
	}
	census, err := h.Census(c.ctx, c.Scan("reading objects", heap.ScanOptions{}))
	if err == nil {
		err = census.Unread()
	}
	if err != nil {
		return nil, err
	}
	modules, err := h.Runtime().Modules()
	if err != nil {
		return h, nil //nolint:nilerr // the names of types are known without modules, or their absence is noted
	}
	var first error
	for _, m := range modules {
		if _, err := m.Metadata(); err == nil {
			return h, nil
		} else if first == nil {
			first = err
		}
	}
	if first != nil {
		return nil, fmt.Errorf("objects can't be found by the names of their types: %w", first)
	}
	return h, nil
}

// NotedHolders returns the process's Holders for an answer. It notes what the heap and the graph lack.
func (c *Call) NotedHolders() (*graph.Holders, error) {
	if _, err := c.ObjectHeap(); err != nil {
		return nil, err
	}
	h, err := c.Holders(c.ctx, graph.Options{})
	if err == nil {
		c.graph = h.Graph()
	}
	return h, err
}

// Rests records that the answer rests on a graph: the graph's notes become the answer's.
func (c *Call) Rests(g *graph.Graph) { c.graph = g }

// LiveGraph returns the process's graph for an answer about which objects are alive. It notes what the graph lacks, because an
// object may be alive by what can't be read.
func (c *Call) LiveGraph() (*graph.Graph, error) {
	g, err := c.Graph(c.ctx, graph.Options{})
	if err != nil {
		return nil, err
	}
	c.graph = g
	c.notes = append(c.notes, g.Stats().Warnings()...)
	return g, nil
}

// Live returns a function that reports whether a live object starts at an address, with the notes of LiveGraph.
func (c *Call) Live() (func(target.Addr) bool, error) {
	g, err := c.LiveGraph()
	if err != nil {
		return nil, err
	}
	return g.LiveStarts(c.ctx)
}

// Jobs returns the number of goroutines that the answer may use.
func (c *Call) Jobs() int { return c.jobs(c.ctx) }

// Scan completes the options of a scan with the answer's goroutines and progress. Work names the scan for people.
func (c *Call) Scan(work string, o heap.ScanOptions) heap.ScanOptions {
	return c.Scanning(c.ctx, work, o)
}

// ThreadList returns the threads. It notes what can't be read of them. An empty list is an error.
func (c *Call) ThreadList() ([]threads.Thread, error) {
	list, err := c.Threads()
	if len(list) == 0 {
		if err == nil {
			err = fmt.Errorf("threads: %w", target.ErrNotInDump)
		}
		return nil, err
	}
	c.Note(err)
	return list, nil
}

// UnlessEmpty returns an answer. If nothing was found, lost is the error: it says what could not be read, or is nil.
func UnlessEmpty[T any](out T, empty bool, lost error) (T, error) {
	if empty {
		return out, lost
	}
	return out, nil
}

// Found returns an answer about objects that are found by the names of their types. If the search itself was incomplete because a
// type could not be looked up, the error is the reason.
func Found[T any](out T, err error) (T, error) {
	gaps := answer.GapsOf(out)
	if err != nil || gaps == nil {
		return out, err
	}
	for _, noted := range gaps.Noted() {
		if errors.As(noted, new(*shapes.UnfoundError)) {
			return out, noted
		}
	}
	return out, nil
}

// WithRuntime is Answer for an answer from the runtime's structures.
func WithRuntime[T any](ctx context.Context, p *Process, compute func(ctx context.Context, c *Call, rt *dac.Runtime) (T, error)) (T, error) {
	return Answer(ctx, p, func(ctx context.Context, c *Call) (none T, err error) {
		rt, err := c.Runtime()
		if err != nil {
			return none, err
		}
		return compute(ctx, c, rt)
	})
}

// WithObjects is Answer for an answer about objects.
func WithObjects[T any](ctx context.Context, p *Process, compute func(ctx context.Context, c *Call, r *objects.Reader) (T, error)) (T, error) {
	return Answer(ctx, p, func(ctx context.Context, c *Call) (none T, err error) {
		r, err := c.Objects()
		if err != nil {
			return none, err
		}
		return compute(ctx, c, r)
	})
}
