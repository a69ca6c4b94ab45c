package graph

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// A RootReader reads the roots of one runtime. It is safe for concurrent use.
type RootReader struct {
	rt      *dac.Runtime
	h       *heap.Heap
	objects *objects.Reader                    // names fields and variables
	walker  *stackwalk.Walker                  // if nil, the roots of stacks are an error
	threads func() ([]stackwalk.Thread, error) // returns the result of stackwalk.Threads

	names names
}

// NewRootReader returns a RootReader for h's objects. It reads nothing yet. r names fields and variables. If w is nil, the
// roots of stacks are an error. list returns the threads; see stackwalk.Threads.
func NewRootReader(h *heap.Heap, r *objects.Reader, w *stackwalk.Walker, list func() ([]stackwalk.Thread, error)) *RootReader {
	return &RootReader{h: h, objects: r, walker: w, threads: list, rt: h.Runtime()}
}

// RootOptions selects roots. The zero value selects all that keep their objects alive.
type RootOptions struct {
	Weak     bool // also weak and dependent handles, which keep nothing alive
	NoStacks bool // omit KindStack
}

// All iterates over the roots: handles, the finalizer queue, the stacks, the threads' tables of thread statics. An
// object may be a root several times. An unreadable part is an error, and the iteration continues. An error of ctx ends
// it. An error with a Root reports that its Object is not in the known heap.
func (r *RootReader) All(ctx context.Context, o RootOptions) iter.Seq2[Root, error] {
	return func(yield func(Root, error) bool) {
		s := scan{r: r, ctx: ctx, yield: yield}
		s.yieldHandles(o.Weak)
		s.yieldFinalizers()
		list, err := r.threads()
		if err != nil {
			s.emit(Root{}, err)
		}
		if !o.NoStacks {
			s.yieldStacks(list)
		}
		s.yieldThreadStatics(list)
	}
}

// Stacks iterates over the roots in the stacks of some threads, as All does.
func (r *RootReader) Stacks(ctx context.Context, list []stackwalk.Thread) iter.Seq2[Root, error] {
	return func(yield func(Root, error) bool) {
		s := scan{r: r, ctx: ctx, yield: yield}
		s.yieldStacks(list)
	}
}

// A scan is one iteration over roots.
type scan struct {
	r     *RootReader
	ctx   context.Context
	yield func(Root, error) bool
	ended bool // the caller stopped
}

// emit yields a root or an error. It reports whether the caller wants more.
func (s *scan) emit(root Root, err error) bool {
	switch {
	case s.ended:
	case s.ctx.Err() != nil:
		s.yield(Root{}, s.ctx.Err())
		s.ended = true
	default:
		s.ended = !s.yield(root, err)
	}
	return !s.ended
}

func (s *scan) yieldHandles(weak bool) {
	if s.ended {
		return
	}
	for e, err := range s.r.h.Handles() {
		if err != nil && e.Object == 0 {
			if !s.emit(Root{Kind: RootHandle}, err) {
				return
			}
			continue
		}
		root := handleRoot(&e)
		if (weak || root.Strong()) && !s.emit(root, err) {
			return
		}
	}
}

func handleRoot(e *heap.Handle) Root {
	return Root{Kind: RootHandle, Object: e.Object, Value: e.Object, Address: e.Addr, Handle: e.Type, Extra: e.Extra, Table: e.Table,
		Pinned: e.Type == heap.HandlePinned || e.Type == heap.HandleAsyncPinned}
}

// yieldFinalizers yields the finalizer queues of all subheaps.
func (s *scan) yieldFinalizers() {
	for i := range s.r.h.SubHeaps() {
		q, err := s.r.h.FinalizerQueue(i)
		if err != nil {
			if !s.emit(Root{Kind: RootFinalizer}, err) {
				return
			}
			continue
		}
		for ref, err := range s.r.h.FinalizerSlots(q.FReachable()) {
			root := Root{Kind: RootFinalizer, Object: ref.Target, Value: ref.Target, Address: ref.Slot, Critical: q.Critical.Contains(ref.Slot)}
			if err == nil {
				err = s.r.check(&root)
			}
			if !s.emit(root, err) {
				return
			}
		}
	}
}

// yieldStacks yields the roots in the threads' stacks.
func (s *scan) yieldStacks(list []stackwalk.Thread) {
	if s.r.walker == nil {
		s.emit(Root{Kind: RootStack}, target.Unsupportedf("the stacks can't be walked"))
		return
	}
	of := s.yieldStack
	if s.r.rt.Check(dac.FeatureCodeReferences) != nil {
		of = s.yieldWholeStack
	}
	for i := range list {
		if t := &list[i]; t.Managed != nil && t.OS != nil && !of(t) {
			return
		}
	}
}

// yieldStack yields the roots in the stack of one thread.
func (s *scan) yieldStack(t *stackwalk.Thread) bool {
	var frame *RootFrame
	var frames []RootFrame // computed when needed
	var regs []target.Registers
	conservative, _ := s.r.Conservative() // rare
	for ref, err := range s.r.walker.Roots(s.ctx, t.Managed, t.OS.Registers) {
		if conservative && ref.Explicit == "" {
			continue // the collector ignores code
		}
		if err != nil && !s.emit(Root{Kind: RootStack, Thread: t}, fmt.Errorf("stack of thread %#x: %w", t.ID(), err)) {
			return false
		}
		if err != nil && ref.Undecoded {
			if frames == nil {
				frames, regs = s.frames(t)
			}
			if !s.yieldUndecoded(t, frames, regs, &ref) {
				return false
			}
		}
		if err != nil {
			continue
		}
		object, ok := s.r.object(ref.Object, ref.Interior)
		if !ok {
			continue
		}
		if frame == nil || frame.Index != ref.Frame || frame.SP != ref.FrameSP {
			frame = &RootFrame{Index: ref.Frame, IP: ref.FrameIP, SP: ref.FrameSP, Method: ref.Method, Explicit: ref.Explicit}
		}
		root := Root{Kind: RootStack, Object: object, Value: ref.Object, Address: ref.Addr, Interior: ref.Interior, Pinned: ref.Pinned,
			Thread: t, Frame: frame, Slot: ref.Slot}
		if !s.emit(root, nil) {
			return false
		}
	}
	return !conservative || s.yieldConservative(t)
}

// check returns an error if a root does not refer into the heap, as far as the heap is known.
func (r *RootReader) check(root *Root) error {
	if root.Object%8 == 0 && (len(r.h.Warnings()) > 0 || r.h.Segment(root.Object) != nil) {
		return nil
	}
	return target.CorruptHeapf("%s at %#x: %#x is not an object of the heap", root.Kind, uint64(root.Address), uint64(root.Object))
}

// object returns the object that a reference of a stack leads to, or into if it is interior. It reports false for other
// memory, where interior references and frames abandoned by an exception may lead.
func (r *RootReader) object(a target.Addr, interior bool) (target.Addr, bool) {
	if r.h.Segment(a) == nil {
		return 0, false
	}
	read := r.h.ObjectAt
	if interior {
		read = r.h.ObjectContaining
	}
	o, err := read(a)
	return o.Addr, err == nil && !o.Free
}

// yieldThreadStatics yields the tables of the threads' thread statics, including threads without an OS thread.
func (s *scan) yieldThreadStatics(list []stackwalk.Thread) {
	for i := range list {
		t := &list[i]
		if t.Managed == nil {
			continue
		}
		slots, exact, err := s.r.rt.ThreadStaticsSlots(t.Managed)
		if err != nil && !s.emit(Root{Kind: RootThreadStatics, Thread: t}, err) {
			return
		}
		for _, slot := range slots {
			if !s.yieldThreadStatic(t, slot, exact) {
				return
			}
		}
	}
}

// yieldThreadStatic yields the object that a thread refers to for its thread statics. An inexact slot may hold
// anything.
func (s *scan) yieldThreadStatic(t *stackwalk.Thread, slot target.Addr, exact bool) bool {
	v, err := target.Pointer(s.r.rt.Memory(), slot)
	root := Root{Kind: RootThreadStatics, Object: v, Value: v, Address: slot, Conservative: !exact, Thread: t}
	switch {
	case !exact:
		if _, ok := s.r.object(v, false); err != nil || !ok {
			return true
		}
	case err != nil:
		err = fmt.Errorf("thread statics of thread %d: %w", t.Managed.ManagedID, err)
	case v == 0:
		return true
	default:
		err = s.r.check(&root)
	}
	return s.emit(root, err)
}

// Dependents iterates over the dependent handles with two objects. They are edges of the graph, not roots: Secondary is
// alive as long as Primary is. An unreadable part is an error, and the iteration continues.
func (r *RootReader) Dependents(ctx context.Context) iter.Seq2[Dependent, error] {
	return func(yield func(Dependent, error) bool) {
		for e, err := range r.h.Handles() {
			if ctx.Err() != nil {
				yield(Dependent{}, ctx.Err())
				return
			}
			d := Dependent{Handle: e.Addr, Primary: e.Object, Secondary: e.Dependent()}
			if err == nil && d.Secondary == 0 {
				continue
			}
			if !yield(d, err) {
				return
			}
		}
	}
}
