package heap

import (
	"slices"

	"github.com/sosgo/sosgo/target"
)

// mostHandedOut is the most that the allocator hands out to a thread at once for small objects (gcpriv.h, CLR_SIZE and allocation_quantum).
const mostHandedOut = 256 << 10

// newest reports whether a in s may be in memory that a thread is about to get: the allocator moves the end of the heap first, and then sets the
// thread's allocation context and clears what was there (gc.cpp, adjust_limit_clr). So it is the end, no context begins behind a, and the rest is no
// more than what is handed out at once.
func (h *Heap) newest(s *Segment, a target.Addr) bool {
	end := s.Objects.End
	if end-a > mostHandedOut+minObjectSize || !slices.ContainsFunc(h.subHeaps, func(sub SubHeap) bool { return sub.AllocAllocated == end }) {
		return false
	}
	return !slices.ContainsFunc(h.gaps, func(gap target.Range) bool { return gap.Start >= a && gap.Start < end })
}
