package resolve

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// A usedStack is a used part of the stack of a thread.
type usedStack struct {
	target.Range
	thread int // index in the process's list
}

// A stackIndex has the used stacks of a process, by their start. Damaged dumps have stacks that overlap.
type stackIndex struct {
	parts []usedStack
	ends  []target.Addr // ends[i] is the highest end of parts[:i+1]
}

var usedStacks = process.PerProcess(newStackIndex)

func newStackIndex(p *process.Process) (*stackIndex, error) {
	list, _ := p.Threads() // threads that can't be read have no stack here
	x := &stackIndex{}
	for i := range list {
		used, err := list[i].Stack(p.Target())
		if err != nil {
			continue // without a stack pointer no part is in use
		}
		for _, part := range used.Ranges {
			x.parts = append(x.parts, usedStack{part, i})
		}
	}
	slices.SortStableFunc(x.parts, func(a, b usedStack) int { return cmp.Compare(a.Start, b.Start) })
	end := target.Addr(0)
	for i := range x.parts {
		end = max(end, x.parts[i].End)
		x.ends = append(x.ends, end)
	}
	return x, nil
}

// at returns the part that contains a, of the first thread that has one.
func (x *stackIndex) at(a target.Addr) (found usedStack, ok bool) {
	for i := sort.Search(len(x.parts), func(i int) bool { return x.parts[i].Start > a }) - 1; i >= 0 && x.ends[i] > a; i-- {
		if part := x.parts[i]; part.Contains(a) && (!ok || part.thread <= found.thread) {
			found, ok = part, true
		}
	}
	return found, ok
}
