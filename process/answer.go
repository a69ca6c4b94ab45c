package process

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/offheap"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ErrNoThread is the error of an answer about a thread if the caller gives no thread.
var ErrNoThread = target.Argumentf("no thread was given")

// A Call computes one answer about a process and records what could not be read for it. It is for one goroutine.
type Call struct {
	*Process
	ctx   context.Context
	notes []error
	graph *graph.Graph // the graph that the answer uses, or nil; its notes become notes of the answer
}

// Answer computes an answer. The context that compute receives ends when ctx ends or the dump is closed. Lists of the
// answer that are read later end with it too.
//
// If T embeds answer.Gaps, Answer adds compute's notes to them. Otherwise it passes the notes to the function of
// WithNotes. The error is ErrClosed for a closed dump, or compute's. Dump.Close waits
// until Answer returns. Conclusions of the answer (answer.VerdictsOf) are no stronger than their premises (State).
func Answer[T any](ctx context.Context, p *Process, compute func(ctx context.Context, c *Call) (T, error)) (T, error) {
	var none T
	if p == nil || p.dump == nil {
		return none, errNoProcess
	}
	ctx, done, err := p.dump.users.UseLasting(ctx)
	if err != nil {
		return none, err
	}
	defer done()
	charge := p.dump.budget.Charge("the answer")
	defer charge.End()
	ctx = offheap.WithCharge(p.dump.WithMaxMemory(ctx), charge)
	c := &Call{Process: p, ctx: ctx}
	out, err := compute(ctx, c)
	if err != nil && ctx.Err() != nil {
		return none, ctx.Err() // the dump was closed, or the caller's context ended
	}
	for _, v := range answer.VerdictsOf(&out) {
		*v = words.LowerOne(*v, words.StateFor(v, p.State, p.StackState))
	}
	for _, reason := range answer.ReasonsOf(&out) {
		*reason = p.collected(*reason)
	}
	if gaps := answer.GapsOf(out); gaps != nil {
		gaps.NoteFirst(c.notes)
		if c.graph != nil {
			gaps.NoteAll(c.graph.Notes())
		}
		gaps.Reword(p.collected)
		if slices.ContainsFunc(gaps.Noted(), func(err error) bool { return errors.Is(err, target.ErrInCollection) }) {
			for _, reason := range answer.RowReasonsOf(&out) {
				*reason = p.collected(*reason)
			}
		}
		gaps.NoteOnce(target.ErrInCollection)
	} else if f, ok := ctx.Value(notesKey{}).(func(error)); ok {
		for _, note := range c.notes {
			f(p.collected(note))
		}
	}
	err = p.collected(err)
	if errors.As(err, new(*emptyError)) && errors.Is(err, target.ErrInCollection) && answer.GapsOf(out) != nil {
		err = damage(answer.GapsOf(out).Noted()) // the answer has noted what is missing: the rest was read, unless there is damage besides
	}
	return out, err
}

// damage returns the first of the notes that is target.ErrCorrupt, or nil.
func damage(notes []error) error {
	for _, note := range notes {
		if errors.Is(note, target.ErrCorrupt) {
			return note
		}
	}
	return nil
}

// Note records why a part of the answer is missing. Nil is ignored.
func (c *Call) Note(err error) {
	if err != nil {
		c.notes = append(c.notes, err)
	}
}

// Reword returns err as Answer puts a note, for the missing rows of a list: during a collection nothing is known to be
// damaged.
func (c *Call) Reword(err error) error { return c.collected(err) }

// Rows returns a list with its errors as Answer puts notes. Its rows are read after Answer.
func Rows[T any](c *Call, list iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range list {
			if _, ends := err.(interface{ EndsList() }); !ends {
				err = c.Reword(err)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// TakeNotes returns the notes and removes them. Answers that place the notes themselves use it.
func (c *Call) TakeNotes() []error {
	notes := c.notes
	c.notes = nil
	return notes
}

// NotedHeap opens the heap for an answer about parts of it and notes the heap's warnings.
func (c *Call) NotedHeap() (*heap.Heap, error) {
	h, err := c.Heap()
	if err == nil {
		c.notes = append(c.notes, h.Warnings()...)
	}
	return h, err
}

// ObjectHeap opens the heap for an answer that needs its objects. It notes the heap's warnings and a collection in
// progress. It fails if no segment of the heap is readable.
func (c *Call) ObjectHeap() (*heap.Heap, error) {
	h, err := c.Heap()
	if err != nil {
		return nil, err
	}
	if err := h.Unread(); err != nil {
		return nil, err
	}
	if h.InGC() {
		c.Note(target.ErrInCollection)
	}
	c.notes = append(c.notes, h.Warnings()...)
	return h, nil
}

// NamedHeap is ObjectHeap for an answer that finds objects by type name. It also fails if no object is readable, or
// if the metadata of every module is unreadable. The error is the first module's.
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

// NotedHolders returns the process's Holders for an answer. It notes what is unreadable in the heap and the graph.
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

// Rests records that the answer uses g. Answer adds g's notes to the answer's.
func (c *Call) Rests(g *graph.Graph) { c.graph = g }

// LiveGraph returns the process's graph for an answer about which objects are alive. It notes the graph's warnings:
// an unreadable part may keep an object alive.
func (c *Call) LiveGraph() (*graph.Graph, error) {
	g, err := c.Graph(c.ctx, graph.Options{})
	if err != nil {
		return nil, err
	}
	c.graph = g
	c.notes = append(c.notes, g.Stats().Warnings()...)
	return g, nil
}

// Live returns a function that reports whether a live object starts at an address. It notes what LiveGraph notes.
func (c *Call) Live() (func(target.Addr) bool, error) {
	g, err := c.LiveGraph()
	if err != nil {
		return nil, err
	}
	return g.LiveStarts(c.ctx)
}

// Jobs returns the number of goroutines that the answer may use.
func (c *Call) Jobs() int { return c.jobs(c.ctx) }

// Scan returns o with the answer's number of goroutines and progress function. work names the scan in progress
// reports.
func (c *Call) Scan(work string, o heap.ScanOptions) heap.ScanOptions {
	return c.Scanning(c.ctx, work, o)
}

// ThreadList returns the threads and notes what is unreadable. An empty list is an error.
func (c *Call) ThreadList() ([]stackwalk.Thread, error) {
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

// UnlessEmpty returns out. If empty is true, its error is lost: the reason why nothing was found, or nil.
func UnlessEmpty[T any](out T, empty bool, lost error) (T, error) {
	if empty && lost != nil {
		return out, &emptyError{lost}
	}
	return out, nil
}

// An emptyError is the reason why nothing was found.
type emptyError struct{ error }

func (e *emptyError) Unwrap() error { return e.error }

// Found returns an answer about objects found by type name. Its error is err, or else the first note about a type
// that could not be looked up: the search was then incomplete.
func Found[T any](out T, err error) (T, error) {
	gaps := answer.GapsOf(out)
	if err != nil || gaps == nil {
		return out, err
	}
	for _, noted := range gaps.Noted() {
		if errors.As(noted, new(*objects.UnfoundError)) {
			return out, noted
		}
	}
	return out, nil
}

// WithRuntime is Answer for an answer that reads the runtime's structures.
func WithRuntime[T any](ctx context.Context, p *Process, compute func(ctx context.Context, c *Call, rt *dac.Runtime) (T, error)) (T, error) {
	return Answer(ctx, p, func(ctx context.Context, c *Call) (none T, err error) {
		rt, err := c.Runtime()
		if err != nil {
			return none, err
		}
		return compute(ctx, c, rt)
	})
}

// WithObjects is Answer for an answer that reads objects.
func WithObjects[T any](ctx context.Context, p *Process, compute func(ctx context.Context, c *Call, r *objects.Reader) (T, error)) (T, error) {
	return Answer(ctx, p, func(ctx context.Context, c *Call) (none T, err error) {
		r, err := c.Objects()
		if err != nil {
			return none, err
		}
		return compute(ctx, c, r)
	})
}

var errNoProcess = target.Argumentf("no process was given")
