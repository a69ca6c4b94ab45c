package stackscan

import (
	"fmt"
	"iter"
	"strings"

	"github.com/sosgo/sosgo/codeinfo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// A Root is a reference that the GC finds in a managed activation.
type Root struct {
	Frame    *Frame      // valid during the iteration's step
	Register target.Reg  // that holds the reference, if Addr is 0
	Addr     target.Addr // of the word of the stack that does
	Object   target.Addr // not null; of an Interior reference an address inside an object, or none of the heap
	Interior bool
	Pinned   bool
}

// Roots iterates over the references that the managed activations of t hold by
// the word of the compiler (package codeinfo), the leaf's first. It leaves out
// those that only explicit frames hold: arguments of a call that has not begun.
// Activations that an exception has left, but which are still on the stack,
// count: what they hold may be collected already, so that a Root need not lead
// to an object. A frame whose GC info can't be read is an error, and the rest
// goes on.
func (w *Walker) Roots(t *dac.Thread, regs target.Registers) iter.Seq2[Root, error] {
	return func(yield func(Root, error) bool) {
		r := &rootReader{w: w, yield: yield, active: true}
		if w.rt.Target().Platform().OS == target.OSWindows {
			r.abi = codeinfo.MicrosoftX64
		}
		for f := range w.Walk(t, regs, WalkOptions{}) {
			if f.Err != nil && !yield(Root{}, f.Err) {
				return
			}
			if !r.frame(&f) {
				return
			}
		}
	}
}

// A rootReader reads the roots of one stack's frames.
type rootReader struct {
	w       *Walker
	yield   func(Root, error) bool
	abi     codeinfo.CallingConvention
	active  bool        // the next activation goes on at its very instruction
	funclet target.Addr // method whose funclet was reported, and whose parent was not yet
	decoder codeinfo.GCDecoder
	slots   []codeinfo.Slot
}

func (r *rootReader) frame(f *Frame) bool {
	if f.Kind != FrameManaged {
		// Under these the thread goes on where it was interrupted (frames.h,
		// Frame::IsInterrupted...: ResumableFrame, RedirectedThreadFrame).
		r.active = f.Kind == FrameExplicit && (strings.HasPrefix(f.Explicit.Class, "Redirected") || f.Explicit.Class == "ResumableFrame")
		return true
	}
	q := codeinfo.Query{Offset: f.Code.Offset, ABI: r.abi}
	if r.active {
		q.State |= codeinfo.ActiveFrame
	}
	r.active = false
	if f.Code.Method == nil {
		return true // a stub, which holds nothing
	}
	method := f.Code.Method.Addr
	if r.funclet == method {
		q.State |= codeinfo.ParentOfFunclet
	}
	switch {
	case f.Code.Funclet:
		r.funclet = method
	case r.funclet == method:
		r.funclet = 0
	}
	if err := r.live(f, q); err != nil {
		return r.yield(Root{Frame: f}, fmt.Errorf("references of the frame at %#x: %w", uint64(f.SP), err))
	}
	for i := range r.slots {
		if !r.slot(f, &r.slots[i]) {
			return false
		}
	}
	return true
}

func (r *rootReader) live(f *Frame, q codeinfo.Query) error {
	r.slots = r.slots[:0]
	err := r.w.rt.DecodeGCInfo(&r.decoder, f.Code)
	if err == nil {
		r.slots, err = r.decoder.LiveSlots(r.slots, q)
	}
	return err
}

func (r *rootReader) slot(f *Frame, s *codeinfo.Slot) bool {
	root := Root{Frame: f, Interior: s.Flags&codeinfo.SlotInterior != 0, Pinned: s.Flags&codeinfo.SlotPinned != 0}
	switch s.Base {
	case codeinfo.BaseRegister:
		v, ok := f.Regs.Get(s.Reg)
		if !ok {
			return r.yield(root, target.Unsupportedf("the register that holds a reference of the frame at %#x is not known", uint64(f.SP)))
		}
		root.Register, root.Object = s.Reg, target.Addr(v)
	case codeinfo.BaseCallerSP:
		return r.yield(root, target.Unsupportedf("a slot of the frame at %#x is relative to its caller", uint64(f.SP)))
	default:
		var ok bool
		if root.Addr, ok = s.Address(&f.Regs, 0); !ok {
			return r.yield(root, target.Unsupportedf("the base of a slot of the frame at %#x is not known", uint64(f.SP)))
		}
		v, err := target.Pointer(r.w.rt.Memory(), root.Addr)
		if err != nil {
			return r.yield(root, err)
		}
		root.Object = v
	}
	return root.Object == 0 || r.yield(root, nil)
}
