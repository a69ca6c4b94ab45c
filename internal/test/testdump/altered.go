package testdump

import (
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/target"
)

// An Altered is a dumped process without some of its memory, and with some of it overwritten. Its regions agree with that. Unlike an Overlay,
// it stands for the whole target, so readers of the heap meet the damage too.
type Altered struct {
	target.Target
	Holes   []target.Range // memory that is missing
	Patches []Damage       // memory that is overwritten

	mu    sync.Mutex
	reads []target.Range // what was read, while on is set
	on    bool
}

// Open opens the process with the options of the dump that it is made from.
func (a *Altered) Open(t testing.TB, o sosgo.Options) *sosgo.Dump {
	t.Helper()
	d, err := sosgo.OpenTarget(a, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// Reads returns what do reads.
func (a *Altered) Reads(do func()) []target.Range {
	a.mu.Lock()
	a.on, a.reads = true, nil
	a.mu.Unlock()
	do()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.on = false
	return a.reads
}

func (a *Altered) note(at target.Addr, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.on {
		a.reads = append(a.reads, target.RangeAt(at, uint64(n)))
	}
}

// whole returns how many of n bytes are before the first hole.
func (a *Altered) whole(at target.Addr, n int) int {
	for _, h := range a.Holes {
		if h.Start <= at && at < h.End {
			return 0
		}
		if at < h.Start && uint64(h.Start-at) < uint64(n) {
			n = int(h.Start - at)
		}
	}
	return n
}

// ReadMemory implements target.Memory.
func (a *Altered) ReadMemory(p []byte, at target.Addr) (int, error) {
	a.note(at, len(p))
	n := a.whole(at, len(p))
	got, err := a.Target.ReadMemory(p[:n], at)
	for _, d := range a.Patches {
		for i := range d.Bytes {
			if w := d.At + target.Addr(i); w >= at && w < at+target.Addr(got) {
				p[w-at] = d.Bytes[i]
			}
		}
	}
	if err == nil && got < len(p) {
		err = &target.MemoryError{Addr: at + target.Addr(got), Size: len(p) - got, Err: target.ErrNotInDump}
	}
	return got, err
}

// View implements target.Memory. Patched memory is not lent.
func (a *Altered) View(at target.Addr, n int) ([]byte, bool) {
	a.note(at, n)
	if a.whole(at, n) < n || slices.ContainsFunc(a.Patches, func(d Damage) bool { return d.At < at+target.Addr(n) && at < d.At+target.Addr(len(d.Bytes)) }) {
		return nil, false
	}
	return a.Target.View(at, n)
}

// Span implements target.Memory.
func (a *Altered) Span(at target.Addr) []byte {
	s := a.Target.Span(at)
	s = s[:a.whole(at, len(s))]
	for _, d := range a.Patches {
		switch {
		case d.At <= at && at < d.At+target.Addr(len(d.Bytes)):
			return nil
		case at < d.At && uint64(d.At-at) < uint64(len(s)):
			s = s[:d.At-at]
		}
	}
	return s
}

// NextStored implements target.SparseMemory.
func (a *Altered) NextStored(at target.Addr) (target.Addr, bool) {
	next, ok := target.NextStored(a.Target, at)
	for _, h := range a.Holes {
		if ok && h.Start <= next && next < h.End {
			return a.NextStored(h.End)
		}
	}
	return next, ok
}

// Claims returns the claims of the process's memory.
func (a *Altered) Claims() *target.Claims { return target.ClaimsOf(a.Target) }

// Regions returns the regions, cut at holes.
func (a *Altered) Regions() iter.Seq[target.Region] {
	return func(yield func(target.Region) bool) {
		for r := range a.Target.Regions() {
			for r.Size > 0 {
				part := r
				n, lost := a.run(&r)
				part.Size, part.Stored = n, min(r.Stored, n)
				if lost {
					part.Stored = 0
				}
				if !yield(part) {
					return
				}
				r.Start, r.Size, r.Stored = r.Start+target.Addr(n), r.Size-n, r.Stored-min(r.Stored, n)
			}
		}
	}
}

// run returns the size of the first part of r that is in one hole, or in none.
func (a *Altered) run(r *target.Region) (n uint64, lost bool) {
	n = r.Size
	for _, h := range a.Holes {
		switch {
		case h.Start <= r.Start && r.Start < h.End:
			return min(r.Size, uint64(h.End-r.Start)), true
		case r.Start < h.Start:
			n = min(n, uint64(h.Start-r.Start))
		}
	}
	return n, false
}
