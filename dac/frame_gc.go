package dac

import (
	"errors"
	"fmt"
	"iter"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A GCFrame protects references of the runtime's native code from the garbage collector: locals, or an array
// (frames.h, class GCFrame; GCPROTECT_BEGIN). Since .NET 5 it is not a Frame, but a link of a chain that starts
// in the Thread. Verified on 6, 8, 9 and 10.
type GCFrame struct {
	Addr       target.Addr
	References target.Addr // address of the first reference; the others follow
	Count      int
	Interior   bool // they may point into objects, or outside the heap
}

// Reference returns the address of the i-th reference.
func (f *GCFrame) Reference(i int) target.Addr { return f.References + 8*target.Addr(i) }

// GCFrames iterates over t's chain of GCFrames from the topmost on. The collector reports all of them, whatever
// frames t has. Each frame is proved: it is in the stack of t and refers to t. Addresses mostly ascend, but not
// within one function. The iteration ends with target.ErrCorrupt at a frame without proof. It yields
// target.ErrUnsupported if the chain's offset in Thread is unknown. Before 5 there is no chain, and GCFrames
// are among Frames.
func (r *Runtime) GCFrames(t *Thread) iter.Seq2[GCFrame, error] {
	return func(yield func(GCFrame, error) bool) {
		l, err := r.frameLayout()
		if err == nil && l.GC.References != layout.Absent && l.GC.Thread == layout.Absent {
			return
		}
		if t == nil {
			yield(GCFrame{}, errNoThread)
			return
		}
		var at target.Addr
		if err == nil {
			at, err = r.gcChainOf(l, t)
		}
		if err != nil {
			yield(GCFrame{}, fmt.Errorf("the runtime's own protected references of thread %d are unknown: %w", t.ManagedID, err))
			return
		}
		var round cycle
		for range limits.FrameChain {
			if endsGCFrames(at) {
				return
			}
			f, next, err := r.gcFrameAt(l, t, at)
			if err == nil && round.closes(at) {
				err = target.Corruptf("the chain leads back to it")
			}
			if err != nil {
				yield(GCFrame{}, fmt.Errorf("GCFrame %016x of thread %d: %w", uint64(at), t.ManagedID, err))
				return
			}
			if !yield(f, nil) {
				return
			}
			at = next
		}
		yield(GCFrame{}, target.Corruptf("thread %d has more than %d GCFrames", t.ManagedID, limits.FrameChain))
	}
}

// endsGCFrames reports whether a ends the chain: null up to 9, GCFRAME_TOP since 10.
func endsGCFrames(a target.Addr) bool { return a == 0 || a == topFrame }

// gcChainOf returns the address of the first GCFrame of t.
func (r *Runtime) gcChainOf(l *frameLayout, t *Thread) (target.Addr, error) {
	off, err := r.gcChain.Get(func() (int, error) { return r.findGCChain(l) })
	if err != nil {
		return 0, err
	}
	return target.Pointer(r.mem, t.Addr+target.Addr(off))
}

// chainSearch is the largest distance in bytes of the chain from its offset in the layout. Builds of the same
// major version may differ by a few members before it.
const chainSearch = 0x40

// findGCChain finds the offset in Thread where the chain starts: the layout's, or the nearest one around it
// where a Thread has a GCFrame. If no thread has a GCFrame, every thread must have the end of a chain at the
// layout's offset.
func (r *Runtime) findGCChain(l *frameLayout) (int, error) {
	at := r.off.Thread.GCFrame
	if at == layout.Absent || l.GC.Thread == layout.Absent || l.GC.Next == layout.Absent {
		return 0, r.absent("Thread.GCFrame")
	}
	threads, err := r.Threads()
	if len(threads) == 0 {
		return at, err
	}
	proved, refuted := r.chainsAt(l, threads, at)
	if proved {
		return at, nil
	}
	for d := 8; d <= chainSearch; d += 8 {
		for _, off := range [...]int{at - d, at + d} {
			if proved, _ := r.chainsAt(l, threads, off); proved {
				return off, nil
			}
		}
	}
	if refuted {
		return 0, target.Unsupportedf("Thread.GCFrame is not at %#x, nor near it", at)
	}
	return at, nil
}

// chainsAt reports whether some thread has a GCFrame at offset off, and whether some thread has neither a
// GCFrame nor the end of a chain.
func (r *Runtime) chainsAt(l *frameLayout, threads []Thread, off int) (proved, refuted bool) {
	for i := range threads {
		t := &threads[i]
		first, err := target.Pointer(r.mem, t.Addr+target.Addr(off))
		if err != nil || endsGCFrames(first) {
			continue
		}
		_, _, err = r.gcFrameAt(l, t, first)
		if err == nil {
			return true, refuted
		}
		refuted = refuted || !errors.Is(err, target.ErrNotInDump)
	}
	return false, refuted
}

// filteredWord replaces half a word of a stack in triage dumps of Windows, unless the word is a pointer.
const filteredWord = 0xaaaaaaaa

// gcFrameAt reads and proves the GCFrame of t at a. It also returns the address of the next one.
func (r *Runtime) gcFrameAt(l *frameLayout, t *Thread, a target.Addr) (GCFrame, target.Addr, error) {
	if a%8 != 0 || !t.Stack.Contains(a) {
		return GCFrame{}, 0, target.Corruptf("it is outside the stack")
	}
	rd := layout.Reader{Mem: r.mem, Base: a}
	next, owner, n := rd.Ptr(l.GC.Next), rd.Ptr(l.GC.Thread), rd.U32(l.GC.Count)
	f := GCFrame{Addr: a, References: rd.Ptr(l.GC.References), Count: int(n), Interior: rd.U32(l.GC.Interior) != 0}
	switch {
	case rd.Err != nil:
		return GCFrame{}, 0, rd.Err
	case owner != t.Addr:
		return GCFrame{}, 0, target.Corruptf("it is of the Thread %016x", uint64(owner))
	case !endsGCFrames(next) && (next%8 != 0 || !t.Stack.Contains(next)):
		return GCFrame{}, 0, target.Corruptf("the next one is at %016x, outside of the stack", uint64(next))
	case n == filteredWord:
		return GCFrame{}, 0, fmt.Errorf("the number of its references was left out: %w", target.ErrNotInDump)
	case n > limits.ProtectedReferences:
		return GCFrame{}, 0, target.Corruptf("%d references", n)
	case n > 0 && !canonical(f.References):
		return GCFrame{}, 0, target.Corruptf("its references are at %016x", uint64(f.References))
	}
	return f, next, nil
}
