package stackwalk

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/base/teb"
	"github.com/sosgo/sosgo/target"
)

// A ThreadStack is the used part of a thread's stack.
type ThreadStack struct {
	// Ranges are the parts, in the order of a scan. The first starts at the stack pointer.
	Ranges []target.Range
	// Alternate is set if the thread runs on an alternate signal stack, the first of Ranges. The second is its
	// normal stack, including the unused part below the interrupted frame.
	Alternate bool
}

// Stack finds the stack of a thread of p, from the stack pointer to the base. The base is from the thread's environment
// block (Windows), the runtime, or the mapping that contains the stack pointer.
func (t *Thread) Stack(p target.Target) (ThreadStack, error) {
	if t != nil && t.OS == nil && t.Managed != nil && t.Managed.OSID != 0 {
		return ThreadStack{}, fmt.Errorf("registers of thread %#x: %w", t.Managed.OSID, target.ErrNotInDump)
	}
	if t == nil || t.OS == nil {
		return ThreadStack{}, fmt.Errorf("no OS thread runs the thread, it has no stack: %w", target.ErrNotInDump)
	}
	sp, ok := t.OS.Registers.SP()
	if !ok {
		return ThreadStack{}, fmt.Errorf("stack pointer of thread %#x: %w", t.OS.ID, target.ErrNotInDump)
	}
	sp &^= 7
	if whole, err := teb.Stack(p, t.OS.TEB, p.Platform().Arch); err == nil && sp < whole.End && uint64(whole.End-sp) <= limits.StackScan {
		return ThreadStack{Ranges: []target.Range{{Start: sp, End: whole.End}}}, nil
	}
	normal := managedStack(t)
	if normal.Contains(sp) {
		return ThreadStack{Ranges: []target.Range{{Start: sp, End: normal.End}}}, nil
	}
	here, err := t.mappingEnd(p, sp)
	if err != nil {
		return ThreadStack{}, err
	}
	s := ThreadStack{Ranges: []target.Range{{Start: sp, End: here}}}
	if normal.Size() > 0 && (here <= normal.Start || sp >= normal.End) {
		s.Ranges, s.Alternate = append(s.Ranges, normal), true
	}
	return s, nil
}

// managedStack returns the stack as the runtime recorded it when the thread first ran managed code. It is empty if the
// thread never did.
func managedStack(t *Thread) target.Range {
	if t.Managed == nil || t.Managed.Stack.End <= t.Managed.Stack.Start {
		return target.Range{}
	}
	return t.Managed.Stack
}

// mappingEnd returns the end of the mapping that contains the thread's stack pointer.
func (t *Thread) mappingEnd(p target.Target, sp target.Addr) (target.Addr, error) {
	regions := t.regions
	if regions == nil {
		regions = newRegionIndex(p)
	}
	end := regions.end(sp)
	if t.OS.Stack.Contains(sp) {
		end = max(end, t.OS.Stack.End)
	}
	if end == 0 {
		return 0, fmt.Errorf("stack of thread %#x at %#x: %w", t.OS.ID, uint64(sp), target.ErrNotInDump)
	}
	return end, nil
}
