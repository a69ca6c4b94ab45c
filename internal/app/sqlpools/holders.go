package sqlpools

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A held is a connection that code holds: busy or being opened.
type held struct {
	stack   **answer.AsyncWork
	threads *[]answer.Worker
	opening *answer.SQLOpening // nil for a connection in use
}

// A holding maps objects to the connections that code holds through them.
type holding struct {
	list []held
	by   map[target.Addr][]int // by the addresses of the connection, its owner, its command, and the task of an OpenAsync
}

// add adds a connection that code holds through the given objects.
func (h *holding) add(what held, through ...target.Addr) {
	for _, a := range through {
		if a != 0 {
			h.by[a] = append(h.by[a], len(h.list))
		}
	}
	h.list = append(h.list, what)
}

// held returns the connections in use and those being opened.
func (q *query) held() *holding {
	h := &holding{by: map[target.Addr][]int{}}
	for i := range q.out.Pools {
		p := &q.out.Pools[i]
		for n := range p.Connections {
			c := &p.Connections[n]
			h.add(held{&c.Stack, &c.Threads, nil}, c.Address, c.Owner.Value, commandOf(c))
		}
		for n := range p.Opening {
			o := &p.Opening[n]
			h.add(held{&o.Stack, &o.Threads, o}, o.Owner)
		}
	}
	for task, owner := range q.results {
		for _, n := range h.by[owner] {
			if h.list[n].opening != nil && task != 0 {
				h.by[task] = append(h.by[task], n)
			}
		}
	}
	return h
}

// commandOf returns the address of a connection's command, or 0.
func commandOf(c *answer.SQLConnection) target.Addr {
	if c.Command.Value == nil {
		return 0
	}
	return c.Command.Value.Address
}

// holders finds the code that holds busy connections or opens one: suspended async code and threads. The error is
// ctx's.
func (q *query) holders(ctx context.Context, p *process.Process, gc *heap.Heap, scan heap.ScanOptions) error {
	h := q.held()
	if len(h.list) == 0 {
		return nil
	}
	f := flows.New(q.Reading, q.items)
	if reader, err := tasks.Of(p); err != nil {
		q.Note(err)
	} else {
		set, err := reader.Collect(ctx, gc, scan)
		if err != nil {
			return err
		}
		stacks, err := f.Stacks(ctx, set, len(h.list), func(box objects.Object) (held, awaited []int) {
			held = h.of(f, box)
			q.openedBy(f, h, box, held)
			return held, h.by[box.Addr]
		})
		if err != nil {
			return err
		}
		for i, s := range stacks {
			*h.list[i].stack = s
		}
	}
	return q.threads(ctx, p, f, h)
}

// of returns the connections that an async method's variables refer to.
func (h *holding) of(f *flows.Reader, box objects.Object) []int {
	var out []int
	for a := range f.Variables(box) {
		for _, n := range h.by[a] {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// openedBy adds the age of connections of Npgsql that an async method opens: the method has the NpgsqlConnection and the connector, which waits for the
// server.
func (q *query) openedBy(f *flows.Reader, h *holding, box objects.Object, held []int) {
	if !slices.ContainsFunc(held, func(n int) bool { return h.list[n].opening != nil }) {
		return
	}
	for a := range f.Variables(box) {
		o, err := q.Binder.Objects().TrustedObject(a)
		if err != nil {
			continue // noted by who reads the variable
		}
		s, x := shapes.BindAs[*connector](q.Reading, o)
		if s == nil {
			continue
		}
		if age, limit, ok := q.waitsFor(s, x); ok {
			for _, n := range held {
				if c := h.list[n].opening; c != nil {
					c.Age, c.Limit = age, limit
				}
			}
		}
	}
}

// threads finds the threads with stack references to connections that no async code holds.
func (q *query) threads(ctx context.Context, p *process.Process, f *flows.Reader, h *holding) error {
	if !slices.ContainsFunc(h.list, func(c held) bool { return *c.stack == nil }) {
		return nil
	}
	reader, err := p.RootReader()
	if err != nil {
		q.Note(err)
		return nil
	}
	list, err := p.Threads()
	q.Note(err)
	workers := map[*stackwalk.Thread]answer.Worker{}
	type pair struct {
		t *stackwalk.Thread
		n int
	}
	seen := map[pair]bool{}
	for root, err := range reader.Stacks(ctx, list) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.Note(err)
		for _, n := range h.by[root.Object] {
			c := &h.list[n]
			if err != nil || seen[pair{root.Thread, n}] || c.opening != nil && *c.stack != nil { // the driver's thread waits for async code
				continue
			}
			seen[pair{root.Thread, n}] = true
			w, ok := workers[root.Thread]
			if !ok {
				w = f.Worker(ctx, p, root.Thread)
				workers[root.Thread] = w
			}
			*c.threads = append(*c.threads, w)
		}
	}
	return nil
}
