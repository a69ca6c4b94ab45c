package sqlpools

import (
	"context"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/app/flows"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A holding maps objects to the busy connections that code holds through them.
type holding struct {
	connections []*answer.SQLConnection
	by          map[target.Addr][]int // by the address of the connection, its owner and its command
}

// busy returns the connections in use.
func (q *query) busy() *holding {
	h := &holding{by: map[target.Addr][]int{}}
	for i := range q.out.Pools {
		for n := range q.out.Pools[i].Connections {
			c := &q.out.Pools[i].Connections[n]
			at := len(h.connections)
			h.connections = append(h.connections, c)
			for _, a := range []target.Addr{c.Address, c.Owner.Value, commandOf(c)} {
				if a != 0 {
					h.by[a] = append(h.by[a], at)
				}
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

// holders finds the code that holds busy connections: suspended async code and threads. The error is ctx's.
func (q *query) holders(ctx context.Context, p *Process) error {
	h := q.busy()
	if len(h.connections) == 0 {
		return nil
	}
	f := flows.New(q.Reading, q.items)
	if p.Tasks != nil {
		set, err := p.Tasks.Collect(ctx, p.Heap, p.Scan)
		if err != nil {
			return err
		}
		stacks, err := f.Stacks(ctx, set, len(h.connections), func(box objects.Object) []int { return h.of(f, box) })
		if err != nil {
			return err
		}
		for i, s := range stacks {
			h.connections[i].Stack = s
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

// threads finds the threads whose stacks refer to connections that no async code holds.
func (q *query) threads(ctx context.Context, p *Process, f *flows.Reader, h *holding) error {
	if p.Roots == nil || !slices.ContainsFunc(h.connections, func(c *answer.SQLConnection) bool { return c.Stack == nil }) {
		return nil
	}
	workers := map[*threads.Thread]answer.Worker{}
	type pair struct {
		t *threads.Thread
		n int
	}
	seen := map[pair]bool{}
	for root, err := range p.Roots.Stacks(ctx, p.Threads) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.Note(err)
		for _, n := range h.by[root.Object] {
			if err != nil || seen[pair{root.Thread, n}] {
				continue
			}
			seen[pair{root.Thread, n}] = true
			w, ok := workers[root.Thread]
			if !ok {
				w = f.Worker(ctx, p.Walk, root.Thread)
				workers[root.Thread] = w
			}
			h.connections[n].Threads = append(h.connections[n].Threads, w)
		}
	}
	return nil
}
