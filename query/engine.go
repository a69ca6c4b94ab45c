package query

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/absent"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/objects/collections"
	"github.com/sosgo/sosgo/stackwalk/threads"
	"github.com/sosgo/sosgo/target"
)

// A Process is the subject of questions. Runtime and Objects must be set. If another field is nil, questions that need
// it fail.
type Process struct {
	Runtime *dac.Runtime
	Objects *objects.Reader
	Heap    func() (*heap.Heap, error) // opens the heap
	// Holders returns the graph of the heap's objects, for retained, live, referrers and path.
	Holders     func(context.Context) (*graph.Holders, error)
	Collections *collections.Reader             // reads the collections of the class libraries
	Thread      func() (*threads.Thread, error) // the current thread, for registers and thread statics
	Variables   map[string]Value                // values of $_ and other variables, by name with the $
	// Sources have rows in addition to the heap's.
	Sources []Source
	Scan    heap.ScanOptions // options for scans of the heap

	types lazy.Value[*typeTable] // cached for the next question
}

// ErrNoThread is the error for a register or a thread static if no thread was selected: by Options.Thread, by
// EvaluateOptions of the root package, or by Process.Thread.
var ErrNoThread = target.Unsupportedf("no thread was chosen, by EvaluateOptions.Thread, QueryOptions.Thread or Process.Thread")

// OfThread returns a copy of p with t as the current thread, or p itself if t is nil.
func (p *Process) OfThread(t *threads.Thread) *Process {
	if p == nil || t == nil {
		return p
	}
	return &Process{Runtime: p.Runtime, Objects: p.Objects, Heap: p.Heap, Holders: p.Holders, Collections: p.Collections, Variables: p.Variables, Sources: p.Sources, Scan: p.Scan,
		Thread: func() (*threads.Thread, error) { return t, nil }}
}

// An engine answers one question.
type engine struct {
	ctx context.Context
	p   *Process
	src string // what the user wrote

	members sync.Map // memberKey to *access
	boxes   sync.Map // *objects.Type to *access
	holders *graph.Holders
	live    func(target.Addr) bool
	weighs  bool        // set guessed
	guessed atomic.Bool // live has counted an object that only unproved roots keep alive
	retains *graph.Dominators

	inQuery bool            // a member of null is null
	owned   map[string]bool // names that some type of the rows has

	rowNames []*rowName // names about the rows of a source that are not columns
}

func newEngine(ctx context.Context, p *Process, src string) *engine {
	if p == nil {
		p = &Process{}
	}
	return &engine{ctx: absent.Context(ctx), p: p, src: src}
}

// heap returns the heap of the process.
func (e *engine) heap() (*heap.Heap, error) { return absent.Func(e.p.Heap)() }

func (e *engine) errorf(n *node, format string, args ...any) *Error {
	return errorAt(e.src, n.pos, format, args...)
}

// A frame is the environment of an evaluation: one row, for one goroutine.
type frame struct {
	e    *engine
	near *target.Window // for the row's object
	far  *target.Window // for what it refers to
	row  []Value        // columns of a Source
	seg  *heap.Segment  // for rows of the heap
	obj  *heap.Object
	typ  *objects.Type
	err  error // why the last truth was undecided

	lastType *objects.Type
	key      []byte // buffer for appendKey
}

func (e *engine) newFrame() *frame {
	mem := e.p.Runtime.Memory()
	return &frame{e: e, near: target.NewWindow(mem), far: target.NewWindow(mem)}
}

func (f *frame) this() Value { return Value{kind: KindObject, bits: uint64(f.obj.Addr), typ: f.typ} }

// needGraph builds the graph. It is called before an expression that needs the graph is evaluated.
func (e *engine) needGraph() error {
	if e.holders != nil {
		return nil
	}
	if e.p.Holders == nil {
		return target.Unsupportedf("there is no graph of the objects")
	}
	h, err := e.p.Holders(e.ctx)
	if err != nil {
		return fmt.Errorf("the graph of the objects: %w", err)
	}
	e.holders = h
	return nil
}

// graphGaps returns the missing parts of the graph, if it was used: they may keep objects alive.
func (e *engine) graphGaps() []error {
	if e.holders == nil {
		return nil
	}
	return e.holders.Graph().Stats().Warnings()
}

func (e *engine) needLive() error {
	if e.live != nil {
		return nil
	}
	err := e.needGraph()
	if err == nil {
		e.live, err = e.holders.Graph().LiveStarts(e.ctx)
	}
	if err == nil && e.weighs && e.holders.Graph().Unproved() > 0 {
		err = e.weigh()
	}
	return err
}

// weigh makes live record whether it counted an object that only unproved roots keep alive.
func (e *engine) weigh() error {
	live := e.live
	proved, err := e.holders.Graph().LiveProved(e.ctx)
	e.live = func(a target.Addr) bool {
		is := live(a)
		if is && !proved(a) {
			e.guessed.Store(true)
		}
		return is
	}
	return err
}

func (e *engine) needRetained() error {
	if e.retains != nil {
		return nil
	}
	err := e.needGraph()
	if err == nil {
		e.retains, err = e.holders.Graph().Dominators(e.ctx)
	}
	return err
}

func (f *frame) threadStatic(field *objects.Field) Value {
	if f.e.p.Thread == nil {
		return Failed(fmt.Errorf("%s is a thread's: %w", field.Name, ErrNoThread))
	}
	t, err := f.e.p.Thread()
	if err == nil && t.Managed == nil {
		err = target.Unsupportedf("%s is a thread's, and the current thread is none of the runtime", field.Name)
	}
	if err != nil {
		return Failed(err)
	}
	return f.fromValue(field.ThreadStatic(t.Managed).Value)
}

// isGap reports whether err is one of the three errors of package target.
func isGap(err error) bool {
	return errors.Is(err, target.ErrNotInDump) || errors.Is(err, target.ErrCorrupt) || errors.Is(err, target.ErrUnsupported)
}
