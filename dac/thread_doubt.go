package dac

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/target"
)

// doubt returns an error if the list contradicts the counts of the thread store, the threads of the dump or itself. The
// runtime changes a thread and its counters one after the other, so a dump of a running process can be in between: what can be that is
// target.ErrNotInDump.
func (r *Runtime) doubt(l *threadList) error {
	var first error
	for err := range r.doubts(l) {
		if errors.Is(err, target.ErrCorrupt) {
			return err
		}
		first = cmp.Or(first, err)
	}
	return first
}

// doubts iterates over what contradicts the list.
func (r *Runtime) doubts(l *threadList) iter.Seq[error] {
	return func(yield func(error) bool) {
		stop := func(err error) bool { return err != nil && !yield(err) }
		if r.Check(FeatureThreadCounters) == nil && (stop(l.short()) || stop(l.miscounted())) {
			return
		}
		ids, pointers := map[uint32]target.Addr{}, stackPointersOf(r.Target())
		if len(pointers) == 1 && !slices.ContainsFunc(l.threads, func(t Thread) bool { return t.OSID == pointers[0].id }) {
			pointers = nil // a child that fork made has the stack of a thread, but not its id
		}
		for i := range l.threads {
			t := &l.threads[i]
			var twice, stranger error
			if other, ok := ids[t.ManagedID]; ok && t.ManagedID != 0 {
				twice = target.Corruptf("the Threads %016x and %016x have the same managed id %d", uint64(other), uint64(t.Addr), t.ManagedID)
			}
			ids[t.ManagedID] = t.Addr
			if id := t.strangerOn(pointers); id != 0 {
				stranger = target.Corruptf("Thread %016x has the OS id %#x, but thread %#x of the dump is on its stack", uint64(t.Addr), t.OSID, id)
			}
			if stop(t.implausible()) || stop(twice) || stop(stranger) || stop(r.denyObject(t)) {
				return
			}
		}
		stop(r.denyFinalizer(l))
	}
}

// denyObject returns an error if the two handles of a thread's managed object refer to different objects. The strong one is empty for most threads.
// A collection that moves the object changes one handle after the other. The thread that collects is noted, unless it belongs to a server GC
// (threadsuspend.cpp, g_pSuspensionThread).
func (r *Runtime) denyObject(t *Thread) error {
	strong, err := r.ptr(t.Addr, r.off.Thread.StrongHandle, "Thread.StrongGCHandle")
	if err != nil || strong == 0 || t.Unknown != nil || t.ExposedHandle == 0 {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	kept, err := target.Pointer(r.mem, strong)
	if err != nil || kept == 0 {
		return nil //nolint:nilerr // nor here
	}
	object, err := target.Pointer(r.mem, t.ExposedHandle)
	if collector, gerr := r.GlobalPointer("GCThread"); err != nil || object == kept || gerr != nil || collector != 0 {
		return nil //nolint:nilerr // nor here
	}
	return fmt.Errorf("Thread %016x has the managed objects %016x and %016x; one is damaged, or a collection was moving it and it is %w", uint64(t.Addr), uint64(object),
		uint64(kept), target.ErrNotInDump)
}

// denyFinalizer returns an error if the runtime names a finalizer thread that is not in its list, or none for several threads: it makes that thread
// first, and names it afterwards.
func (r *Runtime) denyFinalizer(l *threadList) error {
	at, err := r.GlobalPointer("FinalizerThread")
	if err != nil || len(l.threads) < 2 || slices.ContainsFunc(l.threads, func(t Thread) bool { return t.Addr == at }) {
		return nil //nolint:nilerr // there is nothing to compare with
	}
	if at == 0 && len(l.threads) == 2 {
		return fmt.Errorf("there is no finalizer thread; it was being made and is %w", target.ErrNotInDump)
	}
	return target.Corruptf("the finalizer thread is %016x, which is not in the list", uint64(at))
}

// short returns an error if the list has fewer threads than the store counts. The runtime changes both under a lock, so the list can
// lack one thread that is being added or removed. A thread that is removed is dead or never started, and is still counted as such.
func (l *threadList) short() error {
	n, counted := uint32(len(l.threads)), min(l.counts.Threads, limits.ManagedThreads)
	switch {
	case n >= counted:
		return nil
	case n+1 < counted:
		return target.Corruptf("the thread list ends after %d of the %d threads of the thread store", n, l.counts.Threads)
	case l.in(ThreadDead, 0) < l.counts.Dead || l.in(ThreadUnstarted, 0) < l.counts.Unstarted:
		return nil
	}
	return fmt.Errorf("the thread list has %d of the %d threads of the thread store; it is damaged, or one thread was starting or ending and is %w", n, counted, target.ErrNotInDump)
}

// miscounted returns an error if the states of a whole list contradict the counters of the store. The runtime does not count
// threads as background threads before they start; whether it does after they end depends on its version. It changes the state of a thread and
// its counters one after the other, so that each can be one off.
func (l *threadList) miscounted() error {
	if len(l.threads) != int(l.counts.Threads) {
		return nil
	}
	var changing error
	for _, c := range []struct {
		state        string
		counted      uint32
		fewest, most uint32
	}{
		{"dead", l.counts.Dead, l.in(ThreadDead, 0), l.in(ThreadDead, 0)},
		{"unstarted", l.counts.Unstarted, l.in(ThreadUnstarted, ThreadDead), l.in(ThreadUnstarted, 0)},
		{"background", l.counts.Background, l.in(ThreadBackground, ThreadDead|ThreadUnstarted), l.in(ThreadBackground, 0)},
	} {
		switch {
		case c.fewest <= c.counted && c.counted <= c.most:
		case c.counted+1 < c.fewest || c.counted > c.most+1:
			return target.Corruptf("the thread store counts %d %s threads, and its list has %d", c.counted, c.state, c.fewest)
		case changing == nil:
			changing = fmt.Errorf("the thread store counts %d %s threads, and its list has %d; one of them is damaged, or a thread was changing and its state is %w",
				c.counted, c.state, c.fewest, target.ErrNotInDump)
		}
	}
	return changing
}

// in returns the number of threads with the state s and no state of without.
func (l *threadList) in(s, without ThreadState) (n uint32) {
	for i := range l.threads {
		if state := l.threads[i].State; state&s != 0 && state&without == 0 {
			n++
		}
	}
	return n
}

// implausible returns an error if members of the thread contradict each other.
func (t *Thread) implausible() error {
	switch c := &t.AllocContext; {
	case c.Limit >= c.Pointer && (c.Pointer != 0 || c.Limit == 0):
	case c.between():
		return fmt.Errorf("Thread %016x allocates from %016x to %016x; one of them is damaged, or was changing and is %w", uint64(t.Addr), uint64(c.Pointer),
			uint64(c.Limit), target.ErrNotInDump)
	default:
		return target.Corruptf("Thread %016x allocates from %016x to %016x", uint64(t.Addr), uint64(c.Pointer), uint64(c.Limit))
	}
	switch {
	case t.Unknown != nil:
	case t.State&(ThreadDead|ThreadUnstarted) != 0:
	case t.allocAt == 0 && t.OSID != 0 && t.State&ThreadDetached == 0:
		return target.Corruptf("Thread %016x has no thread locals", uint64(t.Addr))
	case t.ManagedID == 0: // a Thread has it from its constructor on (threads.cpp)
		return target.Corruptf("Thread %016x has no managed id", uint64(t.Addr))
	case t.ExposedHandle == 0:
		return target.Corruptf("Thread %016x has no handle of its managed object", uint64(t.Addr))
	case t.Frame == 0: // the end of the list is another value
		return target.Corruptf("Thread %016x has no list of explicit frames", uint64(t.Addr))
	}
	return nil
}

// between reports whether the collector may have been changing c. It stores Pointer and then Limit (gc.cpp, adjust_limit_clr and
// fix_allocation_context): one is of the new context, or 0, and the other of the old one.
func (c *AllocContext) between() bool {
	return (c.Pointer == 0 || canonical(c.Pointer)) && canonical(c.Limit)
}

// strangerOn returns the id of the first of the dump's threads, given by their stack pointers, that is on the stack of t and is another
// thread, or 0. A thread that does not run has no stack, and one that is known by its stack proves nothing.
func (t *Thread) strangerOn(threads []stackPointer) uint32 {
	if t.OSID == 0 || t.ByStack || t.State&(ThreadDead|ThreadUnstarted) != 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(threads, t.Stack.Start, func(p stackPointer, a target.Addr) int { return cmp.Compare(p.sp, a) })
	for ; i < len(threads) && t.Stack.Contains(threads[i].sp); i++ {
		if threads[i].id != t.OSID {
			return threads[i].id
		}
	}
	return 0
}
