package flows

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/tasks"
	"github.com/sosgo/sosgo/internal/threads"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// Worker describes the activity of a thread.
func (r *Reader) Worker(ctx context.Context, p *process.Process, t *stackwalk.Thread) answer.Worker {
	if t == nil {
		return answer.Worker{}
	}
	out := answer.Worker{Thread: t.Describe(r.Gaps)}
	does := threads.ActivityOf(t, p.Walk(ctx, t, stackwalk.WalkOptions{}))
	if does.Err != nil {
		r.Note(fmt.Errorf("stack of thread %#x: %w", t.ID(), does.Err))
	}
	out.Does = does.Text
	if does.Caller != nil {
		out.Method = r.program(p.Walk(ctx, t, stackwalk.WalkOptions{}))
	}
	return out
}

// program returns the topmost method of the program, or "".
func (r *Reader) program(frames iter.Seq[stackwalk.Frame]) answer.Text {
	for f := range frames {
		md, err := f.Method()
		if err != nil || md == nil {
			continue
		}
		name, err := stackwalk.ShortName(r.Binder.Objects().Runtime(), md)
		if err != nil {
			return r.Text("", err) // it may be the program's
		}
		if !answer.LibraryMethod(name) {
			return answer.Text{S: name}
		}
	}
	return answer.Text{}
}

// Stacks finds the suspended async code that works on each of n objects. of gets the box of a method, or a task at the
// awaited end. It returns the objects that the box holds, and the objects that all code outwards awaits. The result for
// an object is the longest path from the awaited end outwards to a method that holds or awaits it, or nil. The error is
// ctx's.
func (r *Reader) Stacks(ctx context.Context, set *tasks.Set, n int, of func(box objects.Object) (held, awaited []int)) ([]*answer.AsyncWork, error) {
	if set == nil || r.Gaps == nil {
		return nil, target.Unsupportedf("no tasks are collected")
	}
	r.Note(set.Note(r.Gaps))
	out := make([]*answer.AsyncWork, n)
	for s, err := range set.Stacks(ctx, tasks.StackOptions{}) {
		if err != nil {
			return nil, err
		}
		if !s.Part {
			r.stack(s, out, of)
		}
	}
	return out, nil
}

// stack searches one stack for the objects.
func (r *Reader) stack(s *answer.AsyncStack, out []*answer.AsyncWork, of func(objects.Object) (held, awaited []int)) {
	var path []int
	var outwards [][]int // by depth: the objects that the frames there await
	for i := range s.Frames {
		f := &s.Frames[i]
		path = append(path[:f.Depth], i)
		outwards = append(outwards[:f.Depth], nil)
		if f.Depth > 0 {
			outwards[f.Depth] = outwards[f.Depth-1]
		}
		if f.State == nil && i > 0 || f.Again {
			continue
		}
		box, err := r.Binder.Objects().TrustedObject(f.Object)
		if err != nil {
			r.Note(err)
			continue
		}
		held, awaited := of(box)
		if len(awaited) > 0 {
			outwards[f.Depth] = append(slices.Clip(outwards[f.Depth]), awaited...)
		}
		if f.State == nil || running(s) {
			continue
		}
		for _, n := range append(held, outwards[f.Depth]...) {
			if out[n] != nil && len(path) <= len(out[n].Frames) {
				continue
			}
			work := &answer.AsyncWork{Reason: s.Reason, Why: s.Why, Remote: s.Remote}
			for _, at := range path {
				work.Frames = append(work.Frames, s.Frames[at])
			}
			out[n] = work
			r.NoteAll(s.Noted())
		}
	}
}

// running reports whether the first frame of a stack is running on a thread instead of waiting.
func running(s *answer.AsyncStack) bool { return s.Frames[0].State != nil && *s.Frames[0].State < 0 }
