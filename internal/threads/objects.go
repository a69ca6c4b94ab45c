package threads

import (
	"context"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/stackscan"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// ObjectOptions selects objects of a stack.
type ObjectOptions struct {
	// Verify omits unproven objects and damaged ones; see stackscan.Options.
	Verify bool
	// Precise, if not nil, walks the stack and selects only the objects that the garbage collector considers live.
	Precise *stackwalk.Walker
	// Range, if not nil, is scanned instead of the stack.
	Range *target.Range
	// Extended uses SOS's extent of a stack, which may be too long. Rows past the stack belong to other memory.
	Extended bool
}

// StackObjects lists the objects that t's registers and stack refer to. It fails if the stack is not in the dump.
func StackObjects(ctx context.Context, s *stackscan.Scanner, t *stackwalk.Thread, o ObjectOptions) (*answer.StackObjects, error) {
	l := &objectLister{ctx: ctx, scanner: s, o: o, gaps: new(answer.Gaps)}
	row, err := l.thread(t)
	if err != nil {
		return nil, err
	}
	out := answer.NewStackObjects(func(yield func(*answer.ThreadObjects, error) bool) { yield(row, nil) })
	l.gaps = &out.Gaps
	return out, nil
}

// AllStackObjects lists the objects that the registers and stacks of all OS threads refer to. A stack that is not in the
// dump is a missing row.
func AllStackObjects(ctx context.Context, s *stackscan.Scanner, list []stackwalk.Thread, o ObjectOptions) *answer.StackObjects {
	l := &objectLister{ctx: ctx, scanner: s, o: o}
	out := answer.NewStackObjects(func(yield func(*answer.ThreadObjects, error) bool) {
		for i := range list {
			if list[i].OS == nil {
				continue
			}
			row, err := l.thread(&list[i])
			if !yield(row, nil) || err != nil && !yield(nil, err) {
				return
			}
		}
	})
	l.gaps = &out.Gaps
	return out
}

// An objectLister lists the objects of stacks.
type objectLister struct {
	ctx     context.Context
	scanner *stackscan.Scanner
	o       ObjectOptions
	gaps    *answer.Gaps
}

func (l *objectLister) thread(t *stackwalk.Thread) (*answer.ThreadObjects, error) {
	row := &answer.ThreadObjects{ThreadID: idOf(t), Precise: l.o.Precise != nil && l.o.Range == nil}
	if row.Precise {
		row.Objects = l.heldObjects(t)
		return row, nil
	}
	stack, err := l.stack(t)
	if err != nil {
		return row, err
	}
	if stack.Alternate {
		normal := stack.Ranges[1]
		row.Normal = &answer.Range{Start: normal.Start, End: normal.End}
	}
	row.Objects = l.scan(t, stack.Ranges)
	return row, nil
}

// stack returns the memory to scan for t.
func (l *objectLister) stack(t *stackwalk.Thread) (stackwalk.ThreadStack, error) {
	if r := l.o.Range; r != nil {
		return stackwalk.ThreadStack{Ranges: []target.Range{{Start: r.Start &^ 7, End: alignUp(r.End)}}}, nil
	}
	s, err := t.Stack(l.scanner.Runtime().Target())
	if err == nil && l.o.Extended {
		l.extend(t, &s)
	}
	return s, err
}

// alignUp returns the next multiple of the pointer size, or the last one.
func alignUp(a target.Addr) target.Addr {
	if a > ^target.Addr(7) {
		return ^target.Addr(7)
	}
	return (a + 7) &^ 7
}

// sosMargin is the number of bytes that SOS scans past the outermost frame if no environment block has the stack's
// base.
const sosMargin = 0x2000

// extend extends the stack to SOS's extent.
func (l *objectLister) extend(t *stackwalk.Thread, stack *stackwalk.ThreadStack) {
	if t.Managed == nil || t.OS.TEB != 0 || stack.Alternate {
		return
	}
	rt := l.scanner.Runtime()
	var last target.Addr
	for f, err := range rt.Frames(t.Managed) {
		if err != nil {
			break // use the frames read so far
		}
		last = f.Addr
	}
	r := &stack.Ranges[0]
	if last >= r.Start && last < r.End {
		// The extension ends with the dump, because memory past the stack is not missing from it.
		if more := last + sosMargin; more > r.End {
			r.End += target.Addr(len(target.UpTo(rt.Target(), r.End, int(more-r.End))))
		}
	}
}

func (l *objectLister) scan(t *stackwalk.Thread, ranges []target.Range) iter.Seq2[answer.StackObject, error] {
	return func(yield func(answer.StackObject, error) bool) {
		o := stackscan.Options{Ranges: ranges, Verify: l.o.Verify}
		if t.OS != nil {
			o.Registers = &t.OS.Registers
		}
		for row, err := range l.scanner.List(l.ctx, o, l.gaps) {
			if err != nil {
				err = fmt.Errorf("thread %#x: %w", t.ID(), err)
			}
			row.OSID = t.ID()
			if !yield(row, err) {
				return
			}
		}
	}
}

// heldObjects lists the objects that the frames of t hold, frame by frame.
func (l *objectLister) heldObjects(t *stackwalk.Thread) iter.Seq2[answer.StackObject, error] {
	return func(yield func(answer.StackObject, error) bool) {
		if t.Managed == nil || t.OS == nil {
			return
		}
		w := l.o.Precise
		r, names := objects.New(w.Runtime()), dac.CodeOf(w.Runtime())
		var last frameKey
		var holder answer.Text
		for root, err := range w.Roots(l.ctx, t.Managed, t.OS.Registers) {
			if err == nil && root.Object == 0 {
				continue
			}
			if err != nil {
				if !yield(answer.StackObject{}, err) {
					return
				}
				continue
			}
			if k := (frameKey{root.FrameIP, root.FrameSP}); k != last {
				last, holder = k, l.holder(names, &root)
			}
			if !yield(l.reference(t, &root, holder, r), nil) {
				return
			}
		}
	}
}

// holder returns the name of the frame that holds a reference.
func (l *objectLister) holder(names *dac.CodeReader, r *stackwalk.Root) answer.Text {
	if r.Explicit != "" {
		return answer.Text{S: "[" + r.Explicit + "]"}
	}
	return l.gaps.Text(names.MethodName(r.Method, dac.MethodFull))
}

func (l *objectLister) reference(t *stackwalk.Thread, root *stackwalk.Root, holder answer.Text, r *objects.Reader) answer.StackObject {
	ref := DescribeRoot(root, r, l.gaps)
	out := answer.StackObject{OSID: t.ID(), Slot: ref.Address, Object: ref.Object, Type: ref.Type, Frame: root.FrameSP,
		Interior: ref.Interior, Pinned: ref.Pinned,
		Held: &answer.HeldReference{Root: ref, FrameSP: root.FrameSP, FrameIP: root.FrameIP, Holder: holder}}
	if ref.Address == 0 {
		out.Register = ref.Place
	}
	if ref.Value.Present {
		out.Value = ref.Value.String()
	}
	return out
}
