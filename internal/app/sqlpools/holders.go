package sqlpools

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/flows"
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
	opening bool
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
			h.add(held{&c.Stack, &c.Threads, false}, c.Address, c.Owner.Value, commandOf(c))
		}
		for n := range p.Opening {
			o := &p.Opening[n]
			h.add(held{&o.Stack, &o.Threads, true}, o.Owner)
		}
	}
	for task, owner := range q.results {
		for _, n := range h.by[owner] {
			if h.list[n].opening && task != 0 {
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
		stacks, err := f.Stacks(ctx, set, len(h.list), func(box objects.Object) (held, awaited []int) { return h.of(f, box), h.by[box.Addr] })
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
			if err != nil || seen[pair{root.Thread, n}] || c.opening && *c.stack != nil { // the driver's thread waits for async code
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
