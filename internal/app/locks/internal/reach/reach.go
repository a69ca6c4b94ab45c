// Package reach says what code of a process can still run, and which of it makes a call: threads from where they stand, suspended methods, delegates that
// live, and what libraries and reflection may call.
//
// It judges no wait. Start with Code.Callers (callers.go). What could not be read is never taken for code that does not exist: Callers then returns nil.
package reach

import (
	"context"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A Source is the process with the code.
type Source struct {
	Binder  *objects.Binder
	Heap    *heap.Heap
	Walker  *stackwalk.Walker
	Threads []stackwalk.Thread
	Tasks   *tasks.Reader
	// Whole reports whether all of the process was read so far. It is asked anew by each question.
	Whole func() bool
	// Suspended returns the suspended methods of the heap, or false if they could not be read.
	Suspended func() (*tasks.Set, bool)
	// Note is called with the reason why the place of a frame is not known.
	Note func(error)
	// Boxes yields the suspended methods that wait, some more than once.
	Boxes func() iter.Seq[target.Addr]
	// Graph returns the graph of the heap with all roots and references. It is nil if the heap is not whole: then each object may live.
	Graph func() (*graph.Graph, error)
}

// Code is the code of a process. It reads each kind of code once, when a question needs it. The zero value is a process without code. It is not safe for
// concurrent use.
type Code struct {
	Source
	ctx context.Context
	rt  *dac.Runtime

	frames    []*Frame // from the innermost frame of each thread on
	paths     map[place]*Paths
	framesErr error
	partly    map[*stackwalk.Thread]bool // threads with frames that could not be read

	delegates    []Delegate
	delegatesErr error

	converts   map[conversion]bool
	living     func(target.Addr) bool // set by Lives
	reflection reflection             // set by reflecting
	reflected  []string               // literals in code that calls methods by reflection, by which it may find them; set by reflecting
}

// New returns the code of a process. Questions end with ctx.
func New(ctx context.Context, s Source) Code {
	return Code{Source: s, ctx: ctx, rt: s.Binder.Objects().Runtime(), converts: map[conversion]bool{}}
}

// whole reports whether all of the process was read so far.
func (c *Code) whole() bool { return c.Whole != nil && c.Whole() }
