package graph

import (
	"context"
	"fmt"
	"sync"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/image/codeinfo"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A names caches data for the descriptions of roots.
type names struct {
	holders      lazy.Value[map[target.Addr]string]
	tables       lazy.Value[map[target.Addr]bool]
	conservative lazy.Value[bool]

	mu     sync.Mutex
	thread *stackwalk.Thread // thread of frames
	frames []stackwalk.Frame // its frames from the leaf on, at most keptFrames
}

// keptFrames is the number of frames of a thread that are cached for the next root. Only an overflowed stack has more.
const keptFrames = 1 << 10

// Describe describes a root. Unknown parts carry the reason. It walks the stack of the root's thread and caches it, so
// callers should describe many roots thread by thread.
func (r *RootReader) Describe(ctx context.Context, root *Root) *answer.GCRoot {
	out := &answer.GCRoot{Kind: answer.RootKind(root.Kind.String()), Object: root.Object, Address: root.Address, Strong: root.Strong(),
		Interior: root.Interior, Pinned: root.Pinned, Conservative: root.Conservative, Critical: root.Critical}
	if root.Kind == RootHandle {
		out.Handle, out.Holder = root.Handle.String(), r.Holder(root.Address)
		if out.Holder == "" {
			if tables, _ := r.staticTables(ctx); tables[root.Object] {
				out.Holder = "the values of static fields"
			}
		}
		if out.Holder == "" && root.Handle == heap.HandleRefCounted {
			out.Holder = "a wrapper for native code, which counts references"
		}
	}
	if t := root.Thread; t != nil {
		out.Thread = describeRootThread(t)
	}
	if root.Frame != nil {
		r.describeFrame(ctx, root, out)
	}
	out.Name = name(root, out)
	return out
}

// describeRootThread identifies a thread.
func describeRootThread(t *stackwalk.Thread) *answer.GCRootThread {
	if t == nil {
		return nil
	}
	out := &answer.GCRootThread{Index: t.Index, OSID: t.ID()}
	if t.Managed != nil {
		out.ManagedID = t.Managed.ManagedID
	}
	out.Name.S, out.Name.Err = t.Name()
	return out
}

// describeFrame describes the frame of a root, and its place in the frame.
func (r *RootReader) describeFrame(ctx context.Context, root *Root, out *answer.GCRoot) {
	f := root.Frame
	out.Frame = &answer.GCRootFrame{Index: f.Index, IP: f.IP, SP: f.SP, Class: f.Explicit}
	if f.Method != nil {
		out.Frame.Method.S, out.Frame.Method.Err = dac.CodeOf(r.rt).MethodName(f.Method, dac.MethodFull)
	}
	if f.Explicit != "" || root.Conservative {
		return
	}
	out.Place = root.Slot.String()
	whole, err := r.frame(ctx, root.Thread, f)
	if err == nil {
		if name, err := whole.ExactName(); err == nil && name != "" {
			out.Frame.Method.S, out.Frame.Method.Err = name, nil
		}
		out.Variable.S, err = stackwalk.VariableOf(&whole, root.Slot, root.Address, r.objects)
	}
	if out.Variable.S == "" && err != nil {
		out.Variable.Err = err
	}
}

// frame returns the frame of a root in its stack.
func (r *RootReader) frame(ctx context.Context, t *stackwalk.Thread, f *RootFrame) (stackwalk.Frame, error) {
	r.names.mu.Lock()
	defer r.names.mu.Unlock()
	if r.names.thread != t || f.Index >= len(r.names.frames) {
		r.names.thread, r.names.frames = t, r.names.frames[:0]
		index := 0
		for at := range r.walker.Walk(ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{}) {
			if index < keptFrames {
				r.names.frames = append(r.names.frames, at)
			} else if index == f.Index {
				return at, nil
			}
			index++
		}
	}
	if err := ctx.Err(); err != nil {
		r.names.thread = nil
		return stackwalk.Frame{}, err
	}
	if f.Index < 0 || f.Index >= len(r.names.frames) {
		return stackwalk.Frame{}, target.Unsupportedf("the stack of thread %#x has no frame %d", t.ID(), f.Index)
	}
	return r.names.frames[f.Index], nil
}

// name describes a root in a few words.
func name(root *Root, d *answer.GCRoot) string {
	switch root.Kind {
	case RootHandle:
		if d.Holder != "" {
			return root.Handle.Words() + " (" + d.Holder + ")"
		}
		return root.Handle.Words()
	case RootFinalizer:
		if root.Critical {
			return "awaits its critical finalizer"
		}
		return "awaits its finalizer"
	case RootThreadStatics:
		return "thread statics of " + threadWords(root.Thread)
	}
	return threadWords(root.Thread) + ": " + place(root, d)
}

func place(root *Root, d *answer.GCRoot) string {
	if root.Frame == nil {
		return "stack"
	}
	if d.Frame.Class != "" && root.Frame.Method == nil {
		return "[" + d.Frame.Class + "]"
	}
	if d.Frame.Class != "" {
		return "[" + d.Frame.Class + "] argument of " + d.Frame.Method.String()
	}
	where := d.Frame.Method.String() + " "
	if root.Conservative {
		return where + "(unverified root)"
	}
	if d.Variable.S != "" {
		return where + d.Variable.S
	}
	if root.Slot.Base == codeinfo.BaseRegister {
		return where + "register " + d.Place
	}
	return where + d.Place
}

func threadWords(t *stackwalk.Thread) string {
	if t == nil {
		return "thread"
	}
	if t.ID() == 0 && t.Managed != nil {
		return fmt.Sprintf("thread without OS thread (managed %d)", t.Managed.ManagedID)
	}
	return fmt.Sprintf("thread %x", t.ID())
}
