package target

import (
	"cmp"
	"slices"
	"sort"
)

// Claims describes the address space as a whole: which memory the process had, whether its bytes are in the
// dump or not. It alone distinguishes memory that the dump's writer left out (ErrNotInDump) from an address at
// which the process had none, so that whatever led there is wrong (ErrCorrupt). It is immutable.
type Claims struct {
	listed []Range // sorted and disjoint
	whole  bool
	top    Addr // first address past those that a process can use
}

// lowestAddress is the first address that a process can have memory at: Windows reserves the first 64 KB, and Linux maps
// nothing there either (vm.mmap_min_addr).
const lowestAddress = 64 << 10

// Why there is nothing at an address. They are ErrCorrupt.
var (
	errNoAddress = Corruptf("no process has memory there")
	errNoMemory  = Corruptf("the process had no memory there")
)

// NewClaims returns the claims of a dump that lists memory, in any order. If the list is whole, the process had no other
// memory that it could use. NewClaims takes ownership of listed.
func NewClaims(arch Arch, listed []Range, whole bool) *Claims {
	c := &Claims{listed: joined(listed), whole: whole, top: userTop(arch)}
	// A process gets memory above on request, if the processor has wider addresses.
	if n := len(c.listed); n > 0 {
		c.top = max(c.top, c.listed[n-1].End)
	}
	return c
}

// userTop is after the addresses that systems give to processes that don't ask for more.
func userTop(a Arch) Addr {
	switch {
	case a == ArchUnknown:
		return 1 << 63
	case a.PointerSize() == 4:
		return 1 << 32
	case a == ArchAMD64:
		return 1 << 47
	}
	return 1 << 48
}

// joined sorts ranges, in place, and makes one of those that touch. Empty ones go.
func joined(ranges []Range) []Range {
	// Dumps list ranges one behind the other: once those are one, few are left to sort.
	ranges = joinNeighbors(ranges)
	if slices.IsSortedFunc(ranges, compareStart) {
		return ranges
	}
	slices.SortFunc(ranges, compareStart)
	return joinNeighbors(ranges)
}

func compareStart(a, b Range) int { return cmp.Compare(a.Start, b.Start) }

// joinNeighbors makes one range of each that begins in or at the end of the one before it in the list. Empty ones go.
func joinNeighbors(ranges []Range) []Range {
	out := ranges[:0]
	for _, r := range ranges {
		switch n := len(out); {
		case r.Size() == 0:
		case n > 0 && r.Start >= out[n-1].Start && r.Start <= out[n-1].End:
			out[n-1].End = max(out[n-1].End, r.End)
		default:
			out = append(out, r)
		}
	}
	return out
}

// AsWhole is c with a list that is whole.
func (c *Claims) AsWhole() *Claims {
	w := *c
	w.whole = true
	return &w
}

// Lists reports whether the dump lists memory at a.
func (c *Claims) Lists(a Addr) bool {
	i := sort.Search(len(c.listed), func(i int) bool { return c.listed[i].End > a })
	return i < len(c.listed) && c.listed[i].Contains(a)
}

// Hole returns the first address of r that the process can't have had memory at, and whether there is one.
func (c *Claims) Hole(r Range) (Addr, bool) {
	switch {
	case r.Size() == 0:
		return 0, false
	case r.Start < lowestAddress || r.Start >= c.top:
		return r.Start, true
	case c.whole:
		i := sort.Search(len(c.listed), func(i int) bool { return c.listed[i].End > r.Start })
		if i == len(c.listed) || !c.listed[i].Contains(r.Start) {
			return r.Start, true
		}
		return c.listed[i].End, c.listed[i].End < r.End
	}
	return c.top, r.End > c.top
}

// Missing returns why the dump has no byte at a: ErrNotInDump if the process may have had memory there, otherwise an error
// that is ErrCorrupt.
func (c *Claims) Missing(a Addr) error {
	switch {
	case c.Lists(a):
		return ErrNotInDump
	case a < lowestAddress || a >= c.top:
		return errNoAddress
	case c.whole:
		return errNoMemory
	}
	return ErrNotInDump
}

// Explain returns err, which a read failed with, with the reason that Missing gives for a byte not in the dump.
func (c *Claims) Explain(err error) error {
	e, ok := err.(*MemoryError)
	if !ok || e.Err != ErrNotInDump {
		return err
	}
	return &MemoryError{Addr: e.Addr, Size: e.Size, Err: c.Missing(e.Addr)}
}

// deadStack is how far below the page of the stack pointer memory is certainly dead, in bytes: beyond what a function may
// use there without moving the pointer.
const deadStack = 4 << 10

// HasDeadStacks reports whether the dump lists the dead part of most threads' stacks. Writers that select what somebody
// needs leave it out; who lists it took all memory that the process could write.
func (c *Claims) HasDeadStacks(threads []Thread) bool {
	dead, live := 0, 0
	for i := range threads {
		sp, ok := threads[i].Registers.SP()
		switch {
		case !ok || !c.Lists(sp):
		case c.Lists(sp&^(deadStack-1) - deadStack):
			dead++
		default:
			live++
		}
	}
	return dead > live
}

// ClaimsOf returns the claims of a dump that makes any. Others cover only what all processes have in common.
func ClaimsOf(m Memory) *Claims {
	if c, ok := m.(interface{ Claims() *Claims }); ok {
		return c.Claims()
	}
	return NewClaims(ArchUnknown, nil, false)
}
