package tasks

import (
	"context"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/process"
)

// readers caches the Reader of each process.
var readers = process.PerProcess(func(p *process.Process) (*Reader, error) {
	b, err := p.Shapes()
	if err != nil {
		return nil, err
	}
	return New(b), nil
})

// Of returns the process's Reader.
func Of(p *process.Process) (*Reader, error) { return readers(p) }

// Collected returns the tasks of the process's heap.
func Collected(ctx context.Context, c *process.Call) (*Set, error) {
	r, err := Of(c.Process)
	if err != nil {
		return nil, err
	}
	h, err := c.NamedHeap()
	if err != nil {
		return nil, err
	}
	s, err := r.Collect(ctx, h, c.Scan("looking for tasks", heap.ScanOptions{}))
	if err != nil {
		return nil, err
	}
	for i, err := range s.lost {
		s.lost[i] = c.Reword(err)
	}
	return s, nil
}
