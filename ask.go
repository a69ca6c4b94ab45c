package sosgo

import (
	"context"
	"errors"
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/tasks"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects/shapes"
	"github.com/sosgo/sosgo/query"
	"github.com/sosgo/sosgo/target"
)

// A question is one call of a method that returns an answer.
type question struct {
	*View
	ctx   context.Context
	notes []error      // what the answer lacks from the start
	graph *graph.Graph // whose notes follow, if it is used
}

// ask computes an answer. It fails when the dump is closed, and Close waits until it returns. Lists of the answer that are read
// later end when ctx does or the dump is closed.
func ask[T any](ctx context.Context, v *View, compute func(q *question) (T, error)) (T, error) {
	var none T
	if v == nil || v.dump == nil {
		return none, errNoDump
	}
	ctx, done, err := v.dump.users.UseLasting(orBackground(ctx))
	if err != nil {
		return none, err
	}
	defer done()
	q := &question{View: v, ctx: ctx}
	out, err := compute(q)
	if err != nil && ctx.Err() != nil {
		return none, ctx.Err() // the dump was closed, or the caller's context ended
	}
	if gaps := answer.GapsOf(out); gaps != nil {
		gaps.NoteFirst(q.notes)
		if q.graph != nil {
			gaps.NoteAll(q.graph.Notes())
		}
	} else if f, ok := ctx.Value(notesKey{}).(func(error)); ok {
		for _, note := range q.notes {
			f(note)
		}
	}
	return out, err
}

// note records what the answer lacks from the start; nil is ignored.
func (q *question) note(err error) {
	if err != nil {
		q.notes = append(q.notes, err)
	}
}

// heap opens the heap for answers about parts of it, and notes its warnings.
func (q *question) heap() (*heap.Heap, error) {
	h, err := q.Heap()
	if err == nil {
		q.notes = append(q.notes, h.Warnings()...)
	}
	return h, err
}

// objectHeap opens the heap for answers that need its objects. A heap without a readable segment is an
// error. A heap that a collection was changing is recorded.
func (q *question) objectHeap() (*heap.Heap, error) {
	h, err := q.Heap()
	if err != nil {
		return nil, err
	}
	if err := h.Unread(); err != nil {
		return nil, err
	}
	if h.InGC() {
		q.note(target.Corruptf("the dump was taken during a garbage collection: the heap is read as far as it is sound"))
	}
	q.notes = append(q.notes, h.Warnings()...)
	return h, nil
}

// namedHeap is objectHeap for answers that find objects by the names of their types. It fails if no object can be read. If the
// metadata of no module can be read, no type has a name: the error is that of the first module.
func (q *question) namedHeap() (*heap.Heap, error) {
	h, err := q.objectHeap()
	if err != nil {
		return nil, err
	}
	census, err := h.Census(q.ctx, q.scanning("reading objects", heap.ScanOptions{}))
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

// holders returns what answers which objects hold others.
func (q *question) holders() (*graph.Holders, error) {
	if _, err := q.objectHeap(); err != nil {
		return nil, err
	}
	h, err := q.Holders(q.ctx, graph.Options{})
	if err == nil {
		q.graph = h.Graph()
	}
	return h, err
}

// live returns a function that reports whether a live object starts at an address. What the graph lacks is noted:
// an object may be alive by what can't be read.
func (q *question) live() (func(target.Addr) bool, error) {
	g, err := q.liveGraph()
	if err != nil {
		return nil, err
	}
	return g.LiveStarts(q.ctx)
}

func (q *question) liveGraph() (*graph.Graph, error) {
	g, err := q.Graph(q.ctx, graph.Options{})
	if err != nil {
		return nil, err
	}
	q.graph = g
	q.notes = append(q.notes, g.Stats().Warnings()...)
	return g, nil
}

// collected reads the tasks of the heap.
func (q *question) collected() (*tasks.Set, error) {
	r, err := q.TaskReader()
	if err != nil {
		return nil, err
	}
	h, err := q.namedHeap()
	if err != nil {
		return nil, err
	}
	return r.Collect(q.ctx, h, q.scanning("looking for tasks", heap.ScanOptions{}))
}

// scanning completes the options of a scan.
func (q *question) scanning(work string, o heap.ScanOptions) heap.ScanOptions {
	return q.scan(q.ctx, work, o)
}

// threads lists the threads. What can't be read of them is noted, unless there are none.
func (q *question) threads() ([]Thread, error) {
	list, err := q.Threads()
	if len(list) == 0 {
		if err == nil {
			err = fmt.Errorf("threads: %w", target.ErrNotInDump)
		}
		return nil, err
	}
	q.note(err)
	return list, nil
}

// option returns the only element of list, or the zero value.
func option[T any](list []T) (o T) {
	if len(list) > 0 {
		o = list[0]
	}
	return o
}

// unlessEmpty returns an answer, with lost as the error where nothing was found because it could not be read.
func unlessEmpty[T any](out T, empty bool, lost error) (T, error) {
	if empty {
		return out, lost
	}
	return out, nil
}

// found returns an answer about what was found by the names of types. Where nothing was found and something may be there, the error is
// the reason.
func found[T any](out T, err error) (T, error) {
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

// queryProcess returns the process that queries and expressions read.
func (q *question) queryProcess(work string) (*query.Process, error) {
	p, err := q.QueryProcess(graph.Options{})
	if err != nil {
		return nil, err
	}
	p.Scan = q.scanning(work, p.Scan)
	return p, nil
}
