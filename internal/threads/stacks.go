// Package threads lists what the threads of a process do: their stacks as SOS shows them, merged stacks and profiles, the
// objects and return addresses on stacks, sync blocks and waits for monitors. Package stackwalk reads the threads and walks
// the stacks; package internal/app/stacks asks for a whole process.
package threads

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/secrets"
	"github.com/sosgo/sosgo/internal/image/unwind"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// StackOptions selects frames and what is listed of each.
type StackOptions struct {
	Arguments  bool           `opt:"p" help:"arguments"`
	Locals     bool           `opt:"l" help:"locals"`
	Registers  bool           `opt:"r" help:"the registers of each frame"`
	Pretty     bool           `opt:"pretty" help:"lambdas, local functions and async methods by the names in the source"`
	Source     bool           // source files and lines, where a module's PDB is found
	Symbols    *image.Symbols // names native code; if nil, native code has only its module
	References bool           `opt:"gc" help:"the references that each frame holds"`
	// Debug adds the first thread's stack in the form of the debugging API.
	Debug   bool `opt:"i" help:"the form of the debugging API: native code between managed frames, signatures of metadata"`
	Native  bool `opt:"native" help:"native frames too, also of a thread that never ran managed code"`
	Fold    bool `opt:"fold" help:"one round of repeated calls, and their number (a stack overflow)"`
	Now     bool `opt:"now" help:"the stack at the time of the dump, also for the thread that raised its exception"`
	Limit   *int `opt:"c" range:"0:" help:"frames at most"` // frames of a thread at most; nil for all
	From    int  // number of frames of a thread to skip, from the leaf on
	Carried bool // keeps the values of registers that an explicit frame does not record, as SOS does
	// Walk walks the stack of the thread with an OS id. If it is nil, the Walker is used. In a process with several
	// runtimes it can yield the frames of all (sosgo.Dump.MergedWalk).
	Walk func(ctx context.Context, osThread uint32, o stackwalk.WalkOptions) iter.Seq[stackwalk.Frame]
}

// Stacks describes the frames of threads. The frames are walked while they are iterated. A thread without an OS thread
// has no frames. A thread that the runtime does not know has only native frames.
func Stacks(ctx context.Context, w *stackwalk.Walker, list []*stackwalk.Thread, o StackOptions) *answer.Stacks {
	s := &stackLister{ctx: ctx, w: w, o: o}
	out := answer.NewStacks(func(yield func(*answer.ThreadStack, error) bool) {
		for _, t := range list {
			frames := s.frames(t)
			if o.Fold && frames != nil {
				frames = foldFrames(frames)
			}
			if !yield(&answer.ThreadStack{ThreadID: idOf(t), Frames: frames}, nil) {
				return
			}
		}
	})
	s.gaps = &out.Gaps
	s.describer = NewDescriber(DescribeOptions{Arguments: o.Arguments, Locals: o.Locals, Registers: o.Registers,
		Pretty: o.Pretty, Source: o.Source, Mask: secrets.MaskOf(ctx), Symbols: o.Symbols}, s.gaps)
	if rt := w.Runtime(); rt != nil && (o.Arguments || o.Locals) {
		out.Note(rt.Check(dac.FeatureVariables))
	}
	if o.Debug && len(list) > 0 && w.Runtime() != nil {
		out.Debug = s.debug(list[0])
	}
	return out
}

// A stackLister lists the stacks of threads.
type stackLister struct {
	ctx       context.Context
	w         *stackwalk.Walker
	o         StackOptions
	describer *Describer
	gaps      *answer.Gaps
	objects   *objects.Reader // set if references are wanted
}

// frames lists the frames of t. It is nil if t can't have any.
func (s *stackLister) frames(t *stackwalk.Thread) iter.Seq2[*answer.Frame, error] {
	if t.OS == nil || t.Managed == nil && s.w.Runtime() != nil && !s.o.Native {
		return nil
	}
	return func(yield func(*answer.Frame, error) bool) {
		refs, err := s.references(t)
		if err != nil {
			yield(nil, err)
			return
		}
		n := -s.o.From
		for f := range mergeFrames(t.Managed, s.walk(t), refs.chained) {
			if n < 0 && s.ctx.Err() == nil {
				n++
				continue
			}
			if s.o.Limit != nil && n == *s.o.Limit {
				return
			}
			if err := s.ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if f.Lost != nil && !yield(nil, fmt.Errorf("stack of thread %#x: %w", t.OS.ID, f.Lost)) {
				return
			}
			row := s.describer.Frame(&f)
			row.OSID = t.OS.ID
			for _, r := range refs.of[frameKey{f.IP, f.SP}] {
				row.References = append(row.References, DescribeRoot(&r, s.objects, s.gaps))
			}
			if !yield(row, nil) {
				return
			}
			if f.Err != nil && !yield(nil, fmt.Errorf("stack of thread %#x ends at %#x: %w", t.OS.ID, uint64(f.SP), f.Err)) {
				return
			}
			n++
		}
	}
}

// mergeFrames merges frames into a walk of t by their place on the stack. Both are ordered from the leaf on.
func mergeFrames(t *dac.Thread, walk iter.Seq[stackwalk.Frame], frames []stackwalk.Frame) iter.Seq[stackwalk.Frame] {
	return func(yield func(stackwalk.Frame) bool) {
		for f := range walk {
			for ; len(frames) > 0 && t.Newer(frames[0].SP, f.SP); frames = frames[1:] {
				if !yield(frames[0]) {
					return
				}
			}
			if !yield(f) {
				return
			}
		}
		for i := range frames {
			if !yield(frames[i]) {
				return
			}
		}
	}
}

func (s *stackLister) walk(t *stackwalk.Thread) iter.Seq[stackwalk.Frame] {
	o := stackwalk.WalkOptions{Native: s.o.Native, Now: s.o.Now, Carried: s.o.Carried}
	if s.o.Walk != nil {
		return s.o.Walk(s.ctx, t.OS.ID, o)
	}
	return s.w.Walk(s.ctx, t.Managed, t.OS.Registers, o)
}

// A frameKey identifies a frame of a thread.
type frameKey struct{ ip, sp target.Addr }

// A heldReferences holds the references of a thread by frame.
type heldReferences struct {
	of      map[frameKey][]stackwalk.Root
	chained []stackwalk.Frame // GCFrames, which no walk yields, by address
}

// references collects the references that t's frames hold, by frame. It notes frames with unknown references. It fails
// only with the error of ctx.
func (s *stackLister) references(t *stackwalk.Thread) (heldReferences, error) {
	out := heldReferences{of: map[frameKey][]stackwalk.Root{}}
	if !s.o.References || t.Managed == nil {
		return out, nil
	}
	if s.objects == nil {
		s.objects = objects.New(s.w.Runtime())
	}
	for r, err := range s.w.Roots(s.ctx, t.Managed, t.OS.Registers) {
		if s.ctx.Err() != nil {
			return out, s.ctx.Err()
		}
		if err != nil {
			s.gaps.Note(err)
			continue
		}
		k := frameKey{r.FrameIP, r.FrameSP}
		if r.Chained && out.of[k] == nil {
			out.chained = append(out.chained, stackwalk.Frame{Kind: stackwalk.FrameExplicit, SP: r.FrameSP, Trust: unwind.TrustContext,
				Runtime: s.w.Runtime(), Explicit: dac.Frame{Addr: r.FrameSP, Class: r.Explicit, Kind: dac.FramePlain}})
		}
		out.of[k] = append(out.of[k], r)
	}
	slices.SortStableFunc(out.chained, func(a, b stackwalk.Frame) int { return cmp.Compare(a.SP, b.SP) })
	return out, nil
}

// debug lists the stack of t as the debugging API does.
func (s *stackLister) debug(t *stackwalk.Thread) iter.Seq2[answer.DebugFrame, error] {
	if t.Managed == nil || t.OS == nil {
		return answer.NewRows(s.gaps, func(func(answer.DebugFrame, error) bool) error { return nil })
	}
	return s.w.DebugStack(s.ctx, t.Managed, t.OS.Registers, stackwalk.WalkOptions{Now: s.o.Now}, s.gaps)
}

// idOf returns the thread's identity in answers.
func idOf(t *stackwalk.Thread) answer.ThreadID {
	if t == nil {
		return answer.ThreadID{}
	}
	return answer.ThreadID{OSID: t.ID(), Index: t.Index}
}
