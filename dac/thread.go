package dac

import (
	"fmt"
	"math"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A ThreadState is Thread::m_State (threads.h, enum ThreadState).
type ThreadState uint32

// The bits of a ThreadState that sosgo uses; threadstate prints all.
const (
	ThreadHijacked         ThreadState = 0x00000080
	ThreadBackground       ThreadState = 0x00000200
	ThreadUnstarted        ThreadState = 0x00000400
	ThreadDead             ThreadState = 0x00000800
	ThreadInSTA            ThreadState = 0x00004000
	ThreadInMTA            ThreadState = 0x00008000
	ThreadPoolWorker       ThreadState = 0x01000000
	ThreadPoolIOCompletion ThreadState = 0x08000000
	ThreadDetached         ThreadState = 0x80000000 // its OS thread ends, and has freed its thread locals
)

// A Thread is a managed thread (threads.h). Verified on 3.1, 6, 8, 9 and 10.
type Thread struct {
	Addr            target.Addr
	ManagedID       uint32
	OSID            uint32 // 0 without an OS thread (dead, unstarted)
	ByStack         bool   // OSID is the dump's id of the thread on this stack: the dump does not record OS ids (target.Thread, Numbered)
	State           ThreadState
	Cooperative     bool // PreemptiveGCDisabled
	Domain          target.Addr
	LockCount       uint32 // 0xffffffff if the runtime does not count
	AllocContext    AllocContext
	allocAt         target.Addr  // address of AllocContext, or 0
	Stack           target.Range // the runtime's bounds; empty before the thread has run
	Frame           target.Addr  // the first explicit frame
	TEB             target.Addr  // Windows
	ExposedHandle   target.Addr  // GC handle of the managed Thread object
	LastThrown      target.Addr  // the exception object, or 0
	LastThrownError error        // why LastThrown is unreadable
	ExInfo          target.Addr  // exception tracker, 0 if no exception is being handled
	Finalizer       bool
	GC              bool  // runs a collection
	Unknown         error // why members other than Addr, OSID, AllocContext and the exceptions are unknown, nil if they are known

	unknownStates error // why ExInfo is unknown
}

// An AllocContext is the piece of the heap that a thread allocates from. The bytes from Pointer to Limit do not
// contain objects yet.
type AllocContext struct{ Pointer, Limit target.Addr }

// ThreadCounts holds the thread store's counters.
type ThreadCounts struct {
	Threads, Unstarted, Background, Pending, Dead uint32
}

type threadList struct {
	threads []Thread
	counts  ThreadCounts
	doubt   error // what contradicts a list that was read to its end
}

// errNoThread is the error for a nil Thread.
var errNoThread = target.Argumentf("no thread was given")

// Threads returns a copy of the list of managed threads, in the order of the thread store. It returns the threads
// found together with the first error. A list that contradicts the counts of the thread store, the threads of the dump
// or itself is target.ErrCorrupt; one that lacks a single thread, which may have been starting, is target.ErrNotInDump.
func (r *Runtime) Threads() ([]Thread, error) {
	l, err := r.threads.Get(r.listThreads)
	if err == nil {
		err = l.doubt
	}
	return slices.Clone(l.threads), err
}

// listThreads reads the list of threads and compares it with its doubles.
func (r *Runtime) listThreads() (threadList, error) {
	l, err := r.impl.readThreads()
	if err == nil {
		l.doubt = r.doubt(&l)
	}
	return l, err
}

// ThreadCounts returns the thread store's counters.
func (r *Runtime) ThreadCounts() (ThreadCounts, error) {
	if err := r.Check(FeatureThreadCounters); err != nil {
		return ThreadCounts{}, err
	}
	l, err := r.threads.Get(r.listThreads)
	if len(l.threads) > 0 {
		err = nil // the error concerns the list after the counters
	}
	return l.counts, err
}

func (r clr) readThreads() (threadList, error) {
	store, err := r.GlobalPointer("ThreadStore")
	if err != nil {
		return threadList{}, fmt.Errorf("thread store: %w", err)
	}
	return r.threadsOf(store)
}

// threadsOf reads the thread store at an address.
func (r *Runtime) threadsOf(store target.Addr) (threadList, error) {
	var l threadList
	o := &r.off.ThreadStore
	rd := layout.Reader{Mem: r.mem, Base: store}
	l.counts = ThreadCounts{Threads: rd.U32(o.Count), Unstarted: rd.U32(o.Unstarted), Background: rd.U32(o.Background),
		Pending: rd.U32(o.Pending), Dead: rd.U32(o.Dead)}
	link := rd.Ptr(o.First)
	if rd.Err != nil {
		return l, fmt.Errorf("thread store: %w", rd.Err)
	}
	finalizer, _ := r.GlobalPointer("FinalizerThread") // without them no thread is marked
	gc, _ := r.GlobalPointer("GCThread")
	var firstErr error
	for n := uint32(0); link != 0; n++ {
		if n >= min(l.counts.Threads, limits.ManagedThreads) {
			return l, target.Corruptf("the thread list goes on after the %d threads of the thread store", l.counts.Threads)
		}
		if link%8 != 0 {
			return l, target.Corruptf("the thread list leads to %#x", uint64(link))
		}
		t, err := r.readThread(link - target.Addr(r.off.Thread.Link))
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
		} else {
			t.Finalizer, t.GC = t.Addr == finalizer, t.Addr == gc
			l.threads = append(l.threads, t)
		}
		if link, err = target.Pointer(r.mem, link); err != nil {
			return l, fmt.Errorf("thread list: %w", err)
		}
	}
	return l, firstErr
}

func (r *Runtime) readThread(a target.Addr) (Thread, error) {
	o := &r.off.Thread
	rd := layout.Reader{Mem: r.mem, Base: a}
	t := Thread{
		Addr:          a,
		ManagedID:     rd.U32(o.ID),
		OSID:          rd.U32(o.OSID),
		State:         ThreadState(rd.U32(o.State)),
		Cooperative:   rd.U32(o.GCDisabled) != 0,
		LockCount:     ^uint32(0),
		Frame:         rd.Ptr(o.Frame),
		Stack:         target.Range{Start: rd.Ptr(o.StackLimit), End: rd.Ptr(o.StackBase)},
		ExposedHandle: rd.Ptr(o.GCHandle),
	}
	thrown, tracker := rd.Ptr(o.LastThrown), rd.Ptr(o.Tracker)
	if o.LockCount != layout.Absent {
		t.LockCount = rd.U32(o.LockCount)
	}
	if o.TEB != layout.Absent {
		t.TEB = rd.Ptr(o.TEB)
	}
	if o.Domain != layout.Absent {
		t.Domain = rd.Ptr(o.Domain)
	} else if rd.Err == nil {
		if t.Domain, rd.Err = r.GlobalPointer("AppDomain"); layout.IsRefused(rd.Err) {
			rd.Err = nil
		} else if rd.Err == nil && t.Domain == 0 {
			rd.Err = errNoDomain
		}
	}
	if rd.Err != nil {
		return t, fmt.Errorf("Thread %016x: %w", uint64(a), rd.Err)
	}
	t.OSID, t.ByStack = r.inst.idInDump(t.OSID, t.Stack)
	t.ExInfo = tracker
	r.lastThrown(&t, thrown)
	var err error
	if t.allocAt, err = r.allocContextOf(a); err == nil && t.allocAt != 0 {
		t.AllocContext, err = r.allocContextAt(t.allocAt)
	}
	if err != nil {
		return t, fmt.Errorf("Thread %016x: allocation context: %w", uint64(a), err)
	}
	return t, nil
}

// lastThrown reads the exception of t from a handle. Since 11 the handle may hold an older one while t handles
// an exception (dotnet/runtime pull requests 127300 and 127741).
func (r *Runtime) lastThrown(t *Thread, handle target.Addr) {
	if t.ExInfo != 0 && r.off.ExceptionInfo.Object != layout.Absent {
		states, err := r.ExceptionStates(t)
		if len(states) == 0 {
			t.LastThrownError = err
			return
		}
		if t.LastThrown = states[0].Thrown; t.LastThrown != 0 {
			return
		}
	}
	if handle != 0 {
		t.LastThrown, t.LastThrownError = target.Pointer(r.mem, handle)
	}
}

// allocContextOf returns the address of the allocation context of the Thread at a. It is in the Thread itself,
// or in the thread locals that it points to. It returns 0 for a dead thread, which has no thread locals.
func (r *Runtime) allocContextOf(a target.Addr) (target.Addr, error) {
	if r.off.Thread.Alloc != layout.Absent {
		return a + target.Addr(r.off.Thread.Alloc), nil
	}
	locals, err := r.ptr(a, r.off.Thread.Locals, "Thread.RuntimeThreadLocals")
	if err != nil || locals == 0 {
		return 0, err
	}
	at := locals + target.Addr(r.off.ThreadLocals.Alloc)
	if r.off.EEAlloc.GC != layout.Absent {
		at += target.Addr(r.off.EEAlloc.GC)
	}
	return at, nil
}

// AllocContexts returns the readable allocation contexts of all threads, and the first error.
func (r *Runtime) AllocContexts() ([]AllocContext, error) {
	var out []AllocContext
	threads, err := r.Threads()
	for i := range threads {
		out = append(out, threads[i].AllocContext)
	}
	return out, err
}

// GlobalAllocContext reads the allocation context without a thread. On Windows with one processor all threads
// allocate from it; elsewhere it is empty (gchelpers.h, UseThreadAllocationContexts). It returns target.ErrUnsupported
// if the address is unknown, as before 8 on Windows.
func (r *Runtime) GlobalAllocContext() (AllocContext, error) {
	at, err := r.layout.Variable("GlobalAllocContext")
	if err != nil {
		unused := false
		if none := r.layout.Constant("ContextsOfThreads", &unused); none != nil || !unused {
			return AllocContext{}, err
		}
		return AllocContext{}, nil
	}
	return r.allocContextAt(at + target.Addr(max(r.off.EEAlloc.GC, 0)))
}

// allocContextAt reads the gc_alloc_context at an address.
func (r *Runtime) allocContextAt(at target.Addr) (AllocContext, error) {
	rd := layout.Reader{Mem: r.mem, Base: at}
	c := AllocContext{Pointer: rd.Ptr(r.off.GCAlloc.Pointer), Limit: rd.Ptr(r.off.GCAlloc.Limit)}
	return c, rd.Err
}

// AllocatedBytes returns the number of bytes that a thread has allocated since it started, as in
// GC.GetAllocatedBytesForCurrentThread: allocation contexts without the rest of the current one, and large and
// pinned objects (gcinterface.h, gc_alloc_context). A dead thread has no count; the error is
// target.ErrNotInDump.
func (r *Runtime) AllocatedBytes(t *Thread) (uint64, error) {
	if t == nil {
		return 0, errNoThread
	}
	o := &r.off.GCAlloc
	if o.Bytes == layout.Absent || o.BytesLoh == layout.Absent {
		return 0, &layout.Error{Type: "GCAllocContext", Field: "AllocBytes"}
	}
	if t.allocAt == 0 {
		return 0, fmt.Errorf("bytes that Thread %016x allocated: a thread that ended has no count: %w", uint64(t.Addr), target.ErrNotInDump)
	}
	rd := layout.Reader{Mem: r.mem, Base: t.allocAt}
	small, large, next, limit := rd.U64(o.Bytes), rd.U64(o.BytesLoh), rd.Ptr(o.Pointer), rd.Ptr(o.Limit)
	if rd.Err != nil {
		return 0, fmt.Errorf("bytes that Thread %016x allocated: %w", uint64(t.Addr), rd.Err)
	}
	if left := uint64(limit - next); limit < next || left > small || small+large-left > math.MaxInt64 {
		return 0, target.Corruptf("allocation context of Thread %016x: %#x-%#x of %d bytes", uint64(t.Addr), uint64(next), uint64(limit), small)
	}
	return small + large - uint64(limit-next), nil
}
