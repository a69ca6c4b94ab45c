package target

import (
	"cmp"
	"errors"
	"slices"
	"sort"
)

// Claims describes the whole address space: which memory the process had, stored or not. It
// distinguishes memory that the dump's writer left out (ErrNotInDump) from an address without
// memory, to which only wrong data can lead (ErrCorrupt). It is immutable.
type Claims struct {
	listed   []Range // sorted and disjoint
	whole    bool
	writable bool // all memory that the process could write is listed
	keptOut  bool // but for parts that the process keeps out of cores
	top      Addr // first address above the processes
}

// lowestAddress is the lowest address at which a process can have memory: Windows reserves the
// first 64 KB, and Linux maps nothing there (vm.mmap_min_addr).
const lowestAddress = 64 << 10

// The errors for addresses without memory. They wrap ErrCorrupt.
var (
	errNoAddress = Corruptf("no process has memory there")
	errNoMemory  = Corruptf("the process had no memory there")
	errUnwritten = Corruptf("the process had no memory there that it could write")
)

// NewClaims returns the claims of a dump that lists memory, in any order. whole means that the
// process had no other accessible memory. NewClaims takes ownership of listed.
func NewClaims(arch Arch, listed []Range, whole bool) *Claims {
	c := &Claims{listed: joinRanges(listed), whole: whole, top: userTop(arch)}
	// On processors with wider addresses, a process may request memory above top.
	for _, r := range slices.Backward(c.listed) {
		if r.Start < kernelHalf { // above it, Linux lists a page of its own (vsyscall)
			c.top = max(c.top, r.End)
			break
		}
	}
	return c
}

// kernelHalf is the start of the addresses that only the system uses.
const kernelHalf = 1 << 63

// userTop returns the end of the addresses that systems give to processes by default.
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

// joinRanges sorts ranges and joins adjacent and overlapping ones, in place. It removes empty
// ranges.
func joinRanges(ranges []Range) []Range {
	// Dumps mostly list ranges in order: once these are joined, few are left to sort.
	ranges = joinNeighbors(ranges)
	if slices.IsSortedFunc(ranges, compareStart) {
		return ranges
	}
	slices.SortFunc(ranges, compareStart)
	return joinNeighbors(ranges)
}

func compareStart(a, b Range) int { return cmp.Compare(a.Start, b.Start) }

// joinNeighbors joins each range with the range before it in the list if it begins in it or at its
// end. It removes empty ranges.
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

// AsWhole returns a copy of c with a whole list.
func (c *Claims) AsWhole() *Claims {
	w := *c
	w.whole = true
	return &w
}

// AsWritable returns a copy of c that lists all memory that the process could write, and perhaps not
// what it could only read.
func (c *Claims) AsWritable() *Claims {
	w := *c
	w.writable = true
	return &w
}

// WithKeptOut returns a copy of c from a writer that leaves out what the process keeps out of cores (madvise with
// MADV_DONTDUMP). The .NET collector does so with pages of free memory between objects, which it later uses again.
func (c *Claims) WithKeptOut() *Claims {
	w := *c
	w.keptOut = true
	return &w
}

// KeepsOut reports whether the dump lacks memory that the process keeps out of cores.
func (c *Claims) KeepsOut() bool { return c.keptOut }

// ListsWritable reports whether the dump lists all memory that the process could write.
func (c *Claims) ListsWritable() bool { return c.whole || c.writable }

// lists reports whether the dump lists memory at a.
func (c *Claims) lists(a Addr) bool {
	i := sort.Search(len(c.listed), func(i int) bool { return c.listed[i].End > a })
	return i < len(c.listed) && c.listed[i].Contains(a)
}

// Hole returns the first address in r, memory that the process writes to, at which it can't have had
// such memory, and whether there is one. Memory that the process kept out of the dump does not begin r.
func (c *Claims) Hole(r Range) (Addr, bool) {
	switch {
	case r.Size() == 0:
		return 0, false
	case r.Start < lowestAddress || r.Start >= c.top:
		return r.Start, true
	case c.whole || c.writable:
		i := sort.Search(len(c.listed), func(i int) bool { return c.listed[i].End > r.Start })
		if i == len(c.listed) || !c.listed[i].Contains(r.Start) {
			return r.Start, true
		}
		return c.listed[i].End, c.listed[i].End < r.End && !c.keptOut
	}
	return c.top, r.End > c.top
}

// Missing returns the reason why the dump has no byte at a: ErrNotInDump if the process may have
// had memory there, otherwise an error that wraps ErrCorrupt.
func (c *Claims) Missing(a Addr) error {
	switch {
	case c.lists(a):
		return ErrNotInDump
	case a < lowestAddress || a >= c.top:
		return errNoAddress
	case c.whole:
		return errNoMemory
	}
	return ErrNotInDump
}

// Explain replaces ErrNotInDump in a *MemoryError with the reason that Missing returns. It returns
// other errors unchanged.
func (c *Claims) Explain(err error) error {
	e, ok := err.(*MemoryError)
	if !ok || e.Err != ErrNotInDump {
		return err
	}
	return &MemoryError{Addr: e.Addr, Size: e.Size, Err: c.Missing(e.Addr)}
}

// ExplainWritten is Explain for memory that the process writes to, such as its loader heaps: a list of the writable memory
// is enough to show that an address is wrong. It finds the error also where others wrap it.
func (c *Claims) ExplainWritten(err error) error {
	var e *MemoryError
	if !errors.As(err, &e) || e.Err != ErrNotInDump || c.lists(e.Addr) {
		return err
	}
	if _, hole := c.Hole(RangeAt(e.Addr, 1)); !hole {
		return err
	}
	why := c.Missing(e.Addr)
	if why == ErrNotInDump {
		why = errUnwritten
	}
	return &MemoryError{Addr: e.Addr, Size: e.Size, Err: why}
}

// deadStack is the distance in bytes, below the page of the stack pointer, from which stack memory
// is certainly dead: a function can't use more without moving the pointer.
const deadStack = 4 << 10

// HasDeadStacks reports whether the dump lists the dead part of most threads' stacks. A writer that
// selects memory leaves it out; a writer that stores it took all writable memory of the process.
func (c *Claims) HasDeadStacks(threads []Thread) bool {
	dead, live := 0, 0
	for i := range threads {
		sp, ok := threads[i].Registers.SP()
		switch {
		case !ok || !c.lists(sp):
		case c.lists(sp&^(deadStack-1) - deadStack):
			dead++
		default:
			live++
		}
	}
	return dead > live
}

// StoresWritable reports whether the dump lists all memory that the process could write, and has at least half of it.
// A dump of kind heap has no more of it. A list alone shows nothing of the kind: createdump of .NET Core 3.1 lists all
// mappings in its small dumps, too.
func StoresWritable(d Target) bool {
	if !ClaimsOf(d).ListsWritable() {
		return false
	}
	var stored, all uint64
	for r := range d.Regions() {
		if r.Prot&ProtWrite != 0 {
			stored, all = stored+min(r.Stored, r.Size), all+r.Size
		}
	}
	return all > 0 && stored >= all/2
}

// ClaimsOf returns the claims of a dump. For a memory without claims it returns what is true of all
// processes.
func ClaimsOf(m Memory) *Claims {
	if c, ok := m.(interface{ Claims() *Claims }); ok {
		return c.Claims()
	}
	return NewClaims(ArchUnknown, nil, false)
}
