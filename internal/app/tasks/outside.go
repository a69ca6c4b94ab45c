package tasks

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/app/shapes"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/internal/words"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Child processes (System.Diagnostics.Process, Process.cs, Process.Unix.cs and ProcessWaitState.Unix.cs) and named pipes (System.IO.Pipes). On Unix a Process
// learns that its child has ended from the ProcessWaitState of the child.
type (
	processShape struct {
		_          objects.Shape    `of:"System.Diagnostics.Process"`
		ID         objects.IntField `field:"_processId"`
		Started    objects.IntField `field:"_haveProcessId"`
		Info       objects.RefField `field:"_startInfo"`
		Exited     objects.IntField `field:"_exited"`
		Holder     objects.RefField `field:"_waitStateHolder,optional"`
		Output     objects.RefField `field:"_standardOutput"`
		Error      objects.RefField `field:"_standardError"`
		OutputRead objects.RefField `field:"_output"`
		ErrorRead  objects.RefField `field:"_error"`
		OutputMode objects.IntField `field:"_outputStreamReadMode"`
		ErrorMode  objects.IntField `field:"_errorStreamReadMode"`
	}
	processInfo struct {
		_    objects.Shape    `of:"System.Diagnostics.ProcessStartInfo"`
		File objects.RefField `field:"_fileName"`
	}
	processHolder struct {
		_     objects.Shape    `of:"System.Diagnostics.ProcessWaitState+Holder"`
		State objects.RefField `field:"_state"`
	}
	processState struct {
		_      objects.Shape    `of:"System.Diagnostics.ProcessWaitState"`
		Exited objects.IntField `field:"_exited"`
	}
	textReader struct {
		_      objects.Shape    `of:"System.IO.StreamReader|System.Diagnostics.AsyncStreamReader"`
		Stream objects.RefField `field:"_stream"`
	}
	pipeClient struct {
		_    objects.Shape    `of:"System.IO.Pipes.NamedPipeClientStream"`
		Path objects.RefField `field:"_normalizedPipePath"`
	}
)

// An Outside is what code waits for that another process has to do.
type Outside struct {
	Kind   answer.WaitKind // answer.WaitProcess, answer.WaitStream, or answer.WaitConnection
	Target string          // the file of a child process, or the name of a pipe
	Says   answer.Statement
	Object target.Addr // the Process or the stream
	// Unread reports that code waits for the end of a child that writes to a pipe of this process, which nothing has begun to read.
	Unread bool
}

// An outsideKind is what code waits for: the end of a child, data, room for data, or a connection.
type outsideKind uint8

const (
	outsideEnd outsideKind = iota
	outsideData
	outsideRoom
	outsideConnection
)

// Children finds the Process of a stream that reads what a child process writes. It is safe for concurrent use. A nil one finds none.
type Children struct {
	b    *objects.Binder
	heap *heap.Heap
	once sync.Once
	of   map[target.Addr]target.Addr // by stream
}

// NewChildren returns what finds the children in a heap. It walks the heap when it is first asked.
func NewChildren(b *objects.Binder, h *heap.Heap) *Children { return &Children{b: b, heap: h} }

// maxChildren bounds the Process objects that are read.
const maxChildren = 1 << 16

// processOf returns the Process of a stream, or 0.
func (c *Children) processOf(ctx context.Context, stream target.Addr) target.Addr {
	if c == nil || c.heap == nil {
		return 0
	}
	c.once.Do(func() {
		c.of = map[target.Addr]target.Addr{}
		list, err := Objects(ctx, c.heap, func(mt *dac.MethodTable) bool {
			t, err := c.b.Objects().TrustedType(mt.Addr)
			if err != nil {
				return false
			}
			is, err := objects.IsShape[*processShape](c.b, t)
			return is && err == nil
		}, maxChildren)
		if err != nil {
			return // their output has no name then
		}
		g := shapes.Reading{Gaps: &answer.Gaps{}, Binder: c.b}
		for _, a := range list {
			o, err := c.b.Objects().TrustedObject(a)
			if err != nil {
				continue
			}
			s, x := shapes.BindAs[*processShape](g, o)
			if s == nil {
				continue
			}
			for _, f := range []*objects.RefField{&s.Output, &s.Error, &s.OutputRead, &s.ErrorRead} {
				if r, at := shapes.BindAt[*textReader](g, f, x); r != nil {
					if stream := g.ObjectAt(&r.Stream, at); stream.Addr != 0 {
						c.of[stream.Addr] = a
					}
				}
			}
		}
	})
	return c.of[stream]
}

// outsideOf describes a wait by way of an object, a Process or a stream, or returns nil for other objects. It notes what it can't read.
func outsideOf(ctx context.Context, g shapes.Reading, children *Children, o objects.Object, kind outsideKind) *Outside {
	if o.Addr == 0 {
		return nil
	}
	if s, x, is, err := shapes.TryBind[*processShape](g.Binder, o); is {
		if err != nil {
			g.Note(err)
			return nil
		}
		return childOf(g, o.Addr, s, x, kind)
	}
	if s, x, is, err := shapes.TryBind[*pipeClient](g.Binder, o); is {
		if err != nil {
			g.Note(err)
			return nil
		}
		return pipeOf(g, o.Addr, s, x, kind)
	}
	if a := children.processOf(ctx, o.Addr); a != 0 && kind == outsideData {
		if p, err := g.Binder.Objects().TrustedObject(a); err == nil {
			return outsideOf(ctx, g, nil, p, kind)
		}
	}
	return nil
}

// childOf describes a wait for a child process. One that has ended can still leave its output open to children of its own.
func childOf(g shapes.Reading, a target.Addr, s *processShape, x objects.Instance, kind outsideKind) *Outside {
	out := &Outside{Kind: answer.WaitProcess, Object: a}
	if i, at := shapes.BindAt[*processInfo](g, &s.Info, x); i != nil {
		out.Target = g.TextAt(&i.File, at).S
	}
	name := words.SomeProcess.Of()
	if started := g.BoolAt(&s.Started, x); started.Err() == nil && started.Value {
		if id := g.IntAt(&s.ID, x); id.Err() == nil {
			name = words.ProcessNumber.Of(words.Text(strconv.FormatInt(id.Value, 10)))
		}
	}
	if out.Target != "" {
		name = name.Plus(words.InParens.Of(words.Text(out.Target)))
	}
	exited := g.BoolAt(&s.Exited, x)
	if h, at := shapes.BindAt[*processHolder](g, &s.Holder, x); h != nil && !exited.Value {
		if state, at := shapes.BindAt[*processState](g, &h.State, at); state != nil {
			exited = g.BoolAt(&state.Exited, at)
		}
	}
	ended := exited.Err() == nil && exited.Value
	switch {
	case ended:
		out.Says = words.OutputOfEnded.Of(name)
	case kind == outsideData:
		out.Says = words.OutputOf.Of(name)
	default:
		out.Says, out.Unread = words.EndOfProcess.Of(name), unread(g, &s.Output, &s.OutputMode, x) || unread(g, &s.Error, &s.ErrorMode, x)
	}
	return out
}

// unread reports whether a Process has a reader of what its child writes, and no code has begun to read: Process.StandardOutput and BeginOutputReadLine
// set the mode (StreamReadMode.Undefined is 0).
func unread(g shapes.Reading, reader *objects.RefField, mode *objects.IntField, x objects.Instance) bool {
	a, err := reader.Addr(x)
	m := g.IntAt(mode, x)
	g.Note(err)
	return err == nil && a != 0 && m.Err() == nil && m.Value == 0
}

// pipeOf describes a wait of the client of a named pipe. On Unix its path names a socket (GetPipePath of PipeStream.Unix.cs).
func pipeOf(g shapes.Reading, a target.Addr, s *pipeClient, x objects.Instance, kind outsideKind) *Outside {
	path := g.TextAt(&s.Path, x)
	if path.Err != nil || path.S == "" {
		return nil
	}
	name := path.S
	if at := strings.LastIndex(name, unixPipe); at >= 0 {
		name = name[at+len(unixPipe):]
	}
	out := &Outside{Kind: answer.WaitStream, Target: name, Object: a}
	switch kind {
	case outsideData:
		out.Says = words.DataOfPipe.Of(words.Text(name))
	case outsideRoom:
		out.Says = words.PipeTakesData.Of(words.Text(name))
	case outsideConnection:
		out.Kind, out.Says = answer.WaitConnection, words.ConnectionToPipe.Of(words.Text(name))
	default:
		return nil
	}
	return out
}

// unixPipe begins the file name of a pipe's socket.
const unixPipe = "CoreFxPipe_"

// pipeOperation returns what a method of a pipe waits for, by its name.
func pipeOperation(method string) outsideKind {
	switch {
	case strings.HasPrefix(method, "Connect"), strings.HasPrefix(method, "TryConnect"):
		return outsideConnection
	case strings.HasPrefix(method, "Write"), strings.HasPrefix(method, "Flush"), strings.HasPrefix(method, "WaitForPipeDrain"):
		return outsideRoom
	}
	return outsideData
}

// OutsideOf returns what a thread waits for that another process has to do, or nil. It notes what it can't read. children may be nil: the thread that waits
// for the output of a child has no name for it then.
func OutsideOf(ctx context.Context, b *objects.Binder, w *stackwalk.Walker, children *Children, t *stackwalk.Thread, gaps *answer.Gaps, a *threads.ThreadActivity) *Outside {
	pipe := a.Activity == threads.ActivityFile && a.Text == threads.WaitsForPipe
	if t.OS == nil || t.Managed == nil || a.By == nil || !pipe && a.Activity != threads.ActivityProcess {
		return nil
	}
	kind := outsideEnd
	if pipe {
		name, err := a.By.Name()
		if err != nil {
			return nil
		}
		kind = pipeOperation(name)
	}
	g := shapes.Reading{Gaps: gaps, Binder: b}
	for o := range objectsOfCall(ctx, b, w, t, a) {
		if out := outsideOf(ctx, g, children, o, kind); out != nil {
			return out
		}
	}
	return nil
}

// outside sets a stack's reason if library code on its way outwards waits for another process: for the end of a child, its output, or the server of a
// named pipe.
func (b *builder) outside(out *answer.AsyncStack) {
	g := shapes.Reading{Gaps: &out.Gaps, Binder: b.r.b}
	depth := -1
	for i := range out.Frames {
		f := &out.Frames[i]
		if f.Depth <= depth || f.Kind == answer.AsyncOther {
			return // another path
		}
		depth = f.Depth
		method := remoteName(f)
		kind := outsideEnd
		switch {
		case f.Kind == answer.AsyncTask:
			continue
		case !answer.LibraryMethod(method):
			return
		case strings.HasPrefix(method, "System.Diagnostics.Process.WaitForExit"):
		case strings.HasPrefix(method, "System.IO.Pipes."):
			kind = pipeOperation(method[strings.LastIndexByte(method, '.')+1:])
		default:
			continue
		}
		if w := outsideOf(b.ctx, g, b.children, b.this(f.Object), kind); w != nil {
			out.Remote, out.Outside = w.Kind, w.Target
			out.Explain(w.Says)
		}
		return
	}
}

// this returns the object with the async method that the box at a suspends, or the zero Object.
func (b *builder) this(a target.Addr) objects.Object {
	k, err := b.r.kindOf(a)
	if err != nil {
		return objects.Object{}
	}
	x, m, err := b.r.machineIn(k, a)
	if err != nil || m == nil {
		return objects.Object{}
	}
	fields, err := m.layout()
	if err != nil {
		return objects.Object{}
	}
	for _, l := range fields.locals {
		if l.kind == answer.AsyncThis {
			if o, err := l.field.At(target.Addr(x)).Object(); err == nil {
				return o
			}
		}
	}
	return objects.Object{}
}
