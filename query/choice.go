package query

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/workers"
)

// A Choice selects objects by an expression, for heap.Filter.Where.
type Choice struct {
	r         *run
	undecided atomic.Uint64
	why       workers.Lowest // the reason for the first undecided object
}

// Chooses compiles a condition on objects of the heap. f selects the objects to which it will be applied. An *Error
// reports a fault in the condition.
func Chooses(ctx context.Context, env *Env, where string, f *heap.Filter) (*Choice, error) {
	n, err := parseExpression(where)
	if err != nil {
		return nil, err
	}
	e := newEngine(ctx, env, where)
	e.inQuery = true
	r := &run{e: e, q: &plan{source: "objects", limit: -1, where: []*node{n}}, o: Options{Filter: f}}
	for _, step := range []func() error{r.findSource, r.arrange, r.check} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &Choice{r: r}, nil
}

// Filter returns a test for one goroutine. It is false for free blocks.
func (c *Choice) Filter() func(*heap.Object) bool {
	if c.r == nil {
		return func(*heap.Object) bool { return false }
	}
	col := &collector{partial: partial{r: c.r}, f: c.r.e.newFrame()}
	h, err := c.r.e.heap()
	if err != nil {
		return func(o *heap.Object) bool { c.noteUndecided(o, err); return false }
	}
	return func(o *heap.Object) bool {
		if o.Free {
			return false
		}
		n := o.TypeNumber()
		if int(n) >= len(col.progs) || col.progs[n] == nil {
			if col.learn(n, o); col.fatal != nil {
				c.noteUndecided(o, col.fatal)
				col.progs[n], col.fatal = neverProgram, nil
			}
		}
		prog := col.progs[n]
		if prog.never || prog.test == nil {
			return !prog.never
		}
		if seg := col.f.seg; seg == nil || !seg.Objects.Contains(o.Addr) {
			col.f.seg = h.Segment(o.Addr)
		}
		col.f.obj, col.f.typ = o, prog.typ
		t := prog.test(col.f)
		if t == undecided {
			c.noteUndecided(o, col.f.err)
		}
		return t == yes
	}
}

func (c *Choice) noteUndecided(o *heap.Object, err error) {
	c.undecided.Add(1)
	c.why.Note(uint64(o.Addr), err)
}

// Undecided returns an error with the number of omitted objects for which the condition could not be decided, or nil.
// Call it after the objects were tested.
func (c *Choice) Undecided() error {
	if c.r == nil {
		return nil
	}
	n := c.undecided.Load()
	if n == 0 {
		return errors.Join(c.r.e.graphGaps()...)
	}
	return fmt.Errorf("%d objects are left out, because the condition can't be decided: %w", n, c.why.Err())
}
