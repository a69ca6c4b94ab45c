package stackwalk

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A Part is a thread as seen by one of several runtimes.
type Part struct {
	Walker    *Walker
	Thread    *dac.Thread
	Registers target.Registers
}

// MergedWalk walks the stack of one thread through several runtimes. Each runtime walks its own frames. The frames are
// merged by stack pointer: a signal stack first, and explicit frames before the frames that they are in. With several
// CLRs every frame has its Runtime. A walk that ends early ends with a frame that has Err; the others continue.
func MergedWalk(ctx context.Context, parts []Part, o WalkOptions) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		var all []Frame
		for i := range parts {
			p := &parts[i]
			all = slices.AppendSeq(all, p.Walker.Walk(ctx, p.Thread, p.Registers, o))
		}
		var thread *dac.Thread
		for i := range parts {
			thread = cmp.Or(thread, parts[i].Thread)
		}
		slices.SortStableFunc(all, func(a, b Frame) int {
			switch {
			case thread.Newer(a.SP, b.SP):
				return -1
			case thread.Newer(b.SP, a.SP):
				return 1
			}
			return 0
		})
		for i := range all {
			if !seenNative(all[:i], &all[i]) && !yield(all[i]) {
				return
			}
		}
	}
}

// seenNative reports whether f is native code that another runtime's walk has yielded. The frames are sorted by SP.
func seenNative(before []Frame, f *Frame) bool {
	if f.Kind != FrameNative {
		return false
	}
	for i := len(before) - 1; i >= 0 && before[i].SP == f.SP; i-- {
		if before[i].IP == f.IP {
			return true
		}
	}
	return false
}

// FoldOthers returns a MergedWalk from the view of one runtime. Each run of other frames becomes one FrameOther at the
// place of its first frame. A run ends at a frame of rt or of a third runtime.
func FoldOthers(frames iter.Seq[Frame], rt *dac.Runtime) iter.Seq[Frame] {
	return func(yield func(Frame) bool) {
		var run Frame // Count is 0 outside a run
		flush := func() bool {
			was := run
			run = Frame{}
			return was.Count == 0 || yield(was)
		}
		for f := range frames {
			other := f.Runtime != nil && f.Runtime != rt
			if run.Count > 0 && (!other || f.Runtime != run.Runtime) && !flush() {
				return
			}
			switch {
			case !other:
				if !yield(f) {
					return
				}
			case run.Count == 0:
				run = Frame{Kind: FrameOther, IP: f.IP, SP: f.SP, Trust: f.Trust, Runtime: f.Runtime, Count: 1, Err: f.Err}
			default:
				run.Count, run.Err = run.Count+1, f.Err
			}
		}
		flush()
	}
}
