package dap

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/stacks"
	"github.com/sosgo/sosgo/internal/base/compilernames"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

const (
	firstFrames = 64      // minimum number of frames walked
	keptFrames  = 200_000 // maximum number of frames kept over all stacks
)

// A frame is an entry of a stack as a client sees it: a frame of the thread, or an async frame below the stack.
type frame struct {
	thread *thread
	index  int // in the thread's walk; -1 for an async frame
	*answer.Frame
	later *laterFrame
}

// A stack holds the frames of a thread that have been walked so far.
type stack struct {
	mu     sync.Mutex
	frames []*frame
	whole  bool
	err    error // the reason why the walk ended early
}

// stackCache caches walked frames and the ids of frames.
type stackCache struct {
	mu    sync.Mutex
	of    map[int]*stack
	total int
	ids   map[frameKey]int
	keys  []frameKey // by id-1
}

// A frameKey identifies the frame of an id, even if the frame is no longer cached.
type frameKey struct{ thread, index int }

// stack returns the stack of a thread.
func (c *stackCache) stack(t *thread) *stack {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of, c.ids = map[int]*stack{}, map[frameKey]int{}
	}
	st := c.of[t.id]
	if st == nil {
		st = &stack{}
		c.of[t.id] = st
	}
	return st
}

// walked adds to the frame count. If the total exceeds keptFrames, it drops all stacks except t's.
func (c *stackCache) walked(t *thread, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total += more; c.total > keptFrames {
		c.of, c.total = map[int]*stack{t.id: c.of[t.id]}, more
	}
}

func (c *stackCache) id(k frameKey) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	id, ok := c.ids[k]
	if !ok {
		c.keys = append(c.keys, k)
		id = len(c.keys)
		c.ids[k] = id
	}
	return id
}

func (c *stackCache) key(id int) (frameKey, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id < 1 || id > len(c.keys) {
		return frameKey{}, false
	}
	return c.keys[id-1], true
}

// frame returns the frame with a client's id.
func (s *session) frame(ctx context.Context, id int) (*frame, error) {
	k, ok := s.stacks.key(id)
	if !ok {
		return nil, fmt.Errorf("there is no frame %d", id)
	}
	t, err := s.threads.find(ctx, s, k.thread)
	if err != nil {
		return nil, err
	}
	list, _, err := s.frames(ctx, t, k.index+1)
	if err == nil && k.index >= len(list) {
		err = fmt.Errorf("there is no frame %d", id)
	}
	if err != nil {
		return nil, err
	}
	return list[k.index], nil
}

// frames returns at least the first want frames of a thread, if it has so many. whole reports whether the list is
// complete. If the walk failed, the frames come with the error.
func (s *session) frames(ctx context.Context, t *thread, want int) (list []*frame, whole bool, err error) {
	st := s.stacks.stack(t)
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.whole || len(st.frames) >= want {
		return st.frames, st.whole, st.err
	}
	limit := max(want, 2*len(st.frames), firstFrames)
	walked, _, err := s.walk(ctx, t, threads.StackOptions{Source: true}, 0, limit)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	frames := make([]*frame, len(walked))
	for i, f := range walked {
		frames[i] = &frame{thread: t, index: i, Frame: f}
	}
	if st.whole = len(frames) < limit || err != nil; st.whole {
		frames = append(frames, s.later(ctx, t, frames, err)...)
	}
	s.stacks.walked(t, len(frames)-len(st.frames))
	st.frames, st.err = frames, err
	return st.frames, st.whole, st.err
}

// walk returns frames of a thread from one on, the errors of their missing parts, and the error that ended the walk.
func (s *session) walk(ctx context.Context, t *thread, o threads.StackOptions, from, limit int) (out []*answer.Frame, lacks []error, err error) {
	o.Native, o.From, o.Limit = true, from, &limit
	list, err := stacks.Stacks(ctx, t.view, stacks.Options{Threads: []*stackwalk.Thread{t.of},
		StackOptions: o})
	if err != nil {
		return nil, nil, err
	}
	for f, err := range list.Frames {
		if err != nil {
			lacks = append(lacks, err)
			continue
		}
		out = append(out, f)
	}
	return out, append(lacks, list.Noted()...), ctx.Err()
}

func (s *session) stackTrace(ctx context.Context, a *dap.StackTraceArguments) (any, error) {
	t, err := s.threads.find(ctx, s, a.ThreadId)
	if err != nil {
		return nil, err
	}
	if a.StartFrame < 0 || a.Levels < 0 {
		return nil, fmt.Errorf("frames %d to %d are none", a.StartFrame, a.StartFrame+a.Levels)
	}
	from, end := min(a.StartFrame, maxFrames), maxFrames
	if a.Levels > 0 {
		end = min(from+a.Levels, maxFrames)
	}
	list, whole, err := s.frames(ctx, t, end)
	if len(list) == 0 && err != nil {
		return nil, err
	}
	body := dap.StackTraceResponseBody{StackFrames: []dap.StackFrame{}}
	if whole {
		body.TotalFrames = len(list)
	}
	for i := from; i < min(end, len(list)); i++ {
		body.StackFrames = append(body.StackFrames, s.show(ctx, list[i], i))
	}
	if whole && err != nil && len(body.StackFrames) > 0 {
		body.StackFrames = append(body.StackFrames, dap.StackFrame{Id: s.stacks.id(frameKey{t.id, maxFrames}), Name: words(err), PresentationHint: "label"})
	}
	return body, nil
}

// maxFrames exceeds the depth of any stack.
const maxFrames = 1 << 22

// show converts a frame for clients. index is its position in the list, which its id encodes.
func (s *session) show(ctx context.Context, f *frame, index int) dap.StackFrame {
	out := dap.StackFrame{Id: s.stacks.id(frameKey{f.thread.id, index})}
	if f.later != nil {
		return s.showLater(ctx, f, out)
	}
	out.Name = s.frameName(f.Frame)
	if f.IP.Err() == nil {
		out.InstructionPointerReference = reference(f.IP.Value)
	}
	if f.Module != "" {
		out.ModuleId = f.Module
	}
	if f.Kind != answer.FrameManaged {
		out.PresentationHint = "subtle"
	}
	if f.Kind == answer.FrameOther {
		out.PresentationHint = "label"
	}
	if f.Line > 0 {
		out.Source, out.Line, out.Column = s.sourceOf(ctx, f.thread.view, f.MethodDesc, f.File), f.Line, 1
	}
	return out
}

// method returns a method's name in the form that the client wants.
func (s *session) method(name string) string {
	if s.runtime {
		return name
	}
	return compilernames.CSharpMethod(name)
}

// frameName returns the name of a frame, followed by the reason if the stack ends early there.
func (s *session) frameName(f *answer.Frame) string {
	name := ""
	switch f.Kind {
	case answer.FrameManaged:
		name = s.method(f.Name())
	case answer.FrameExplicit:
		name = "[" + f.Class + "]"
		if m := s.method(f.Name()); m != "" {
			name += " " + m
		}
	case answer.FrameOther:
		name = fmt.Sprintf("[%s of another runtime]", answer.Count(f.Count, "frame", "frames"))
	default:
		name = f.NativeName()
	}
	if f.Err.Err != nil {
		name += " " + words(f.Err.Err)
	}
	return name
}

// reference formats an address as a memory reference.
func reference(a target.Addr) string { return fmt.Sprintf("%#x", uint64(a)) }
