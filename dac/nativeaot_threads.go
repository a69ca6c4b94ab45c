package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// readThreads reads the threads of the thread store with their ids, allocation contexts and current exceptions.
func (r *nativeAOT) readThreads() (threadList, error) {
	instance, err := r.GlobalPointer("RuntimeInstance")
	var at target.Addr
	if err == nil {
		at, err = target.Pointer(r.mem, instance+target.Addr(r.instance.Store))
	}
	if err == nil {
		at, err = target.Pointer(r.mem, at+target.Addr(r.store.First))
	}
	var l threadList
	for seen := (cycle{}); err == nil && at != 0; {
		if seen.closes(at) || len(l.threads) == limits.ManagedThreads {
			return l, target.Corruptf("the thread list has no end")
		}
		rd := layout.Reader{Mem: r.mem, Base: at}
		t := Thread{Addr: at, OSID: r.osID(at, rd.U64(r.thread.ID)), LockCount: ^uint32(0), Unknown: r.Check(FeatureThreadFacts)}
		next := rd.Ptr(r.thread.Next)
		if err = rd.Err; err == nil {
			t.allocAt = at + target.Addr(r.thread.Alloc)
			t.AllocContext, err = r.allocContextAt(t.allocAt)
			r.readThrown(&t)
			l.threads = append(l.threads, t)
		}
		at = next
	}
	if err != nil {
		err = fmt.Errorf("thread list: %w", err)
	}
	return l, err
}

// osID returns the system's id of the thread with its structure at a. id is the id in the structure. Before
// .NET 9 on Unix it is a pointer of the C library; the result is then the thread that all of the structure's
// pointers into stacks belong to, or 0.
func (r *nativeAOT) osID(a target.Addr, id uint64) uint32 {
	switch {
	case id>>32 == 0:
		return uint32(id) // also for an ended thread: another thread may use its stack by now
	case r.thread.Size == layout.Absent:
		return 0
	}
	found := uint32(0)
	for off := 0; off+8 <= r.thread.Size; off += 8 {
		if off == r.thread.Next {
			continue // may point past the end of another thread's stack
		}
		v, err := target.Pointer(r.mem, a+target.Addr(off))
		if err != nil {
			return 0
		}
		switch on := r.Instance().threadOfStack(v); {
		case on == 0 || on == found:
		case found != 0:
			return 0
		default:
			found = on
		}
	}
	return found
}

// readThrown reads the exception that a thread is handling.
func (r *nativeAOT) readThrown(t *Thread) {
	t.ExInfo, t.LastThrownError = r.ptr(t.Addr, r.thread.ExInfo, "Thread.m_pExInfoStackHead")
	if t.unknownStates = t.LastThrownError; t.ExInfo != 0 {
		o := r.stateLayout()
		var s ExceptionState
		s, _, t.LastThrownError = r.readState(&o, t.ExInfo)
		t.LastThrown = s.Thrown
	}
}

// nativeThrowsAgain separates the frames of two throws in the stack trace of an exception (StackTraceHelper.SpecialIP).
const nativeThrowsAgain = ^uint64(0)

// readTrace reads the stack trace of an exception: an array of return addresses, of which the first n are set
// (Exception.NativeAot.cs).
func (r *nativeAOT) readTrace(e *Exception) ([]TraceFrame, error) {
	data, length, size, err := r.arrayData(e.stackTrace)
	if err != nil {
		return nil, err
	}
	n := e.traceFrames
	if size != 8 || n > length {
		return nil, target.CorruptHeapf("%d frames in an array of %d elements of %d bytes", n, length, size)
	}
	out := make([]TraceFrame, 0, min(n, traceAtOnce))
	for i := range n {
		ip, err := target.Uint64(r.mem, data+8*target.Addr(i))
		switch {
		case err != nil:
			return out, err
		case ip == nativeThrowsAgain && len(out) > 0:
			out[len(out)-1].Foreign = true
		case !r.inst.Module.Contains(target.Addr(ip)):
			return out, target.CorruptHeapf("frame %d is at %016x, outside of the program", i, ip)
		default:
			out = append(out, TraceFrame{IP: target.Addr(ip)})
		}
	}
	return out, nil
}

// threadStatics returns the words of the thread's structure, and the words that these point to (Thread.h,
// m_pThreadLocalStatics and m_pInlinedThreadLocalStatics). The debug header does not identify the two.
func (r *nativeAOT) threadStatics(t *Thread) (slots []target.Addr, exact bool, err error) {
	const inlined = 3 // words of an InlinedThreadStaticRoot
	rd := layout.Reader{Mem: r.mem, Base: t.Addr}
	for off := 0; off+8 <= r.thread.Size; off += 8 {
		slots = append(slots, t.Addr+target.Addr(off))
		to := rd.Ptr(off)
		if rd.Err != nil {
			return slots, false, fmt.Errorf("thread statics of thread %#x: %w", t.OSID, rd.Err)
		}
		if !canonical(to) {
			continue
		}
		for i := range inlined {
			slots = append(slots, to+target.Addr(8*i))
		}
	}
	return slots, false, nil
}
