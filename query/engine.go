package query

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/graph"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// An Env is the environment of questions: a process, additional sources of rows, variables, and the current thread.
type Env struct {
	process     *process.Process
	runtime     *dac.Runtime
	objects     *objects.Reader
	collections *objects.Collections
	types       *lazy.Value[*typeTable] // kept for the next question

	// Graph has the options of the graph of the heap's objects, for retained, live, referrers and path.
	Graph     graph.Options
	Thread    func() (*stackwalk.Thread, error) // the current thread, for registers and thread statics; nil if none is chosen
	Variables map[string]Value                  // values of $_ and the like, by name with the $
	Sources   []Source                          // rows in addition to the heap's
	Scan      heap.ScanOptions                  // the options of scans of the heap
}

// NewEnv returns the Env of a process with only the heap's sources. It opens the runtime and its readers of objects
// and collections.
func NewEnv(p *process.Process) (*Env, error) {
	if p == nil {
		return nil, errNoEnv
	}
	rt, err := p.Runtime()
	if err != nil {
		return nil, err
	}
	r, err := p.Objects()
	if err != nil {
		return nil, err
	}
	c, err := p.Collections()
	if err != nil {
		return nil, err
	}
	return &Env{process: p, runtime: rt, objects: r, collections: c, types: new(lazy.Value[*typeTable]), Scan: heap.ScanOptions{Jobs: p.Dump().Jobs()}}, nil
}

// ErrNoThread is the error of a register or a thread static if no thread was chosen, by Options.Thread or Env.Thread.
var ErrNoThread = target.Argumentf("no thread was chosen, by EvaluateOptions.Thread, Options.Thread or Env.Thread")

var errNoEnv = target.Argumentf("no process was given")

// OfThread returns a copy of e with the current thread t. If t is nil, it returns e itself.
func (e *Env) OfThread(t *stackwalk.Thread) *Env {
	if t == nil {
		return e
	}
	of := *e
	of.types = new(lazy.Value[*typeTable])
	of.Thread = func() (*stackwalk.Thread, error) { return t, nil }
	return &of
}

// Process returns the process of the Env.
func (e *Env) Process() *process.Process { return e.process }

// An engine answers one question.
type engine struct {
	ctx context.Context
	env *Env
	src string // what the user wrote
	// mask hides secrets in the texts of the process before anything is computed with them; nil without masking.
	mask   func(string) string
	said   *secrets.Said // results of expressions, which are not masked again
	hidden sync.Map      // addresses of arrays to whether mask changes the text of their elements

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

func newEngine(ctx context.Context, env *Env, src string) *engine {
	return &engine{ctx: env.process.Dump().WithMaxMemory(ctx), env: env, src: src, mask: secrets.MaskOf(ctx), said: secrets.SaidOf(ctx)}
}

// masked returns a text of the process as it may be computed with.
func (e *engine) masked(text string) string {
	if e.mask == nil {
		return text
	}
	return e.mask(text)
}

// shown returns the cell of a text that an expression made. Texts of the process were masked before, so a secret in it was guessed: it
// is shown, because its mask would say that the guess is right.
func (e *engine) shown(text string) answer.Cell {
	if e.said != nil && e.masked(text) != text && !e.said.Add(text) {
		return answer.Cell{Err: errHidden}
	}
	return answer.Cell{Kind: answer.CellText, Text: text}
}

// shownNumber returns the cell of a number. A number is a secret only beside its name, where it is not read. One that is equal to a secret
// may be computed, so it is shown, because its mask would say that the guess is right.
func (e *engine) shownNumber(c answer.Cell, text string) answer.Cell {
	if e.said != nil && e.masked(text) != text && !e.said.Add(text) {
		return answer.Cell{Err: errHidden}
	}
	return c
}

// errHidden is the error of what can't be masked.
var errHidden = noAnswer("where secrets are masked, bytes of memory and the elements of texts with secrets are not shown")

// errUnshown is the error of an address without an object. Its cause has words of the memory there, perhaps of a text.
var errUnshown = noAnswer("no object is proved to be there; where secrets are masked, what is there is not shown")

// proven returns the object at an address that need not be an object's. For a MethodTable, the error names its type.
func (f *frame) proven(a target.Addr) (objects.Object, error) {
	o, err := f.e.env.objects.Proven(a)
	switch {
	case err == nil:
		return o, nil
	case f.e.mask != nil:
		return o, errUnshown
	}
	rt := f.e.env.objects.Runtime()
	if mt, _, failed := rt.MethodTableAt(a); failed == nil {
		if name, failed := rt.TypeName(mt.Addr, 0); failed == nil {
			return o, noAnswer("%v is not an object but the MethodTable of %s; dumpmt %x describes it", a, name, uint64(a))
		}
	}
	return o, err
}

// checkElements returns errHidden for an array of characters, bytes or small numbers with a secret in its text.
func (f *frame) checkElements(o objects.Object) error {
	if f.e.mask == nil {
		return nil
	}
	known, ok := f.e.hidden.Load(o.Addr)
	if !ok {
		a, err := o.Array()
		if err != nil {
			return err
		}
		hidden, err := a.Hides(f.e.mask)
		if err != nil {
			return err
		}
		known = hidden
		f.e.hidden.Store(o.Addr, hidden)
	}
	if known == true {
		return errHidden
	}
	return nil
}

// checkParts returns errHidden for a struct with a secret in its text or in the text of a buffer in it.
func (f *frame) checkParts(s objects.Struct) error {
	if f.e.mask == nil {
		return nil
	}
	hidden, err := s.Hides(f.e.mask)
	if hidden {
		return errHidden
	}
	return err
}

// checkUnit returns errHidden for a field of the type that is a character of a secret. base is where the type's fields begin.
func (f *frame) checkUnit(t *objects.Type, base target.Addr) error {
	if !t.IsString() {
		return f.checkParts(objects.Struct{Addr: base, Type: t})
	}
	text, err := objects.Object{Addr: base - dac.ObjectHeaderBytes, Type: t}.Text(limits.ExpressionText)
	if err != nil || f.e.mask(text) != text {
		return errHidden
	}
	return nil
}

// column returns the value of a column of the row.
func (f *frame) column(i int) Value {
	v := f.row[i]
	if v.kind == KindText {
		v.text = f.e.masked(v.text)
	}
	return v
}

// heap returns the heap of the process.
func (e *engine) heap() (*heap.Heap, error) { return e.env.process.Heap() }

func (e *engine) errorf(n *node, format string, args ...any) *Error {
	return errorAt(e.src, n.pos, format, args...)
}

// A frame is the environment of an evaluation: one row, for one goroutine.
type frame struct {
	e    *engine
	near *target.Window // for the row's object
	far  *target.Window // for objects that it refers to
	row  []Value        // columns of a Source
	seg  *heap.Segment  // for rows of the heap
	obj  *heap.Object
	typ  *objects.Type
	err  error // why the last truth was undecided

	lastType *objects.Type
	key      []byte // buffer for appendKey
}

func (e *engine) newFrame() *frame {
	mem := e.env.runtime.Memory()
	return &frame{e: e, near: target.NewWindow(mem), far: target.NewWindow(mem)}
}

func (f *frame) this() Value { return Value{kind: KindObject, bits: uint64(f.obj.Addr), typ: f.typ} }

// needGraph builds the graph. It is called before an expression that needs the graph is evaluated.
func (e *engine) needGraph() error {
	if e.holders != nil {
		return nil
	}
	h, err := e.env.process.Holders(e.ctx, e.env.Graph)
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
	if f.e.env.Thread == nil {
		return Failed(fmt.Errorf("%s is a thread's: %w", field.Name, ErrNoThread))
	}
	t, err := f.e.env.Thread()
	if err == nil && t.Managed == nil {
		err = target.Argumentf("%s is a thread's, and the current thread is none of the runtime", field.Name)
	}
	if err != nil {
		return Failed(err)
	}
	return f.fromValue(field.ThreadStatic(t.Managed).Value)
}
