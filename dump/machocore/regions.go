package machocore

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// The kinds of regions of a core. What createdump made up has none.
const (
	kindImage   = "image"
	kindPrivate = "private"
	kindStack   = "stack"
)

// buildRegions makes a region of each segment, or of what those before it leave of it.
func (b *builder) buildRegions() {
	b.regions = make([]target.Region, 0, len(b.loads))
	var at target.Addr // everything below is done
	for i := range b.loads {
		s := &b.loads[i]
		start, end := max(target.Addr(s.Addr), at), target.Addr(s.Addr+s.Size)
		if start >= end {
			continue
		}
		r := target.Region{Start: start, Size: uint64(end - start), Prot: s.Prot, Kind: kindPrivate}
		r.Stored = b.mem.Stored(start, r.Size)
		switch m := target.ModuleAt(b.modules, start); {
		case special(s.Addr):
			r.Kind = ""
		case m != nil:
			r.Kind, r.Path = kindImage, m.Path
		}
		b.regions = append(b.regions, r)
		at = end
	}
}

// stackPage is the granularity of a stack's lower end in bytes.
const stackPage = 4096

// findStacks gives each thread the memory from the page of its stack pointer to the end of the mapping that contains
// it. A core has no more about the stack's limits.
func (b *builder) findStacks() {
	ends := make([]target.Addr, len(b.regions))
	for i, r := range slices.Backward(b.regions) {
		ends[i] = r.Start + target.Addr(r.Size)
		if i+1 < len(ends) && b.sameMapping(i, i+1) {
			ends[i] = ends[i+1]
		}
	}
	for i := range b.threads {
		t := &b.threads[i]
		sp, ok := t.Registers.SP()
		if !ok {
			continue
		}
		if r := b.regionAt(sp); r >= 0 {
			t.Stack = target.Range{Start: max(b.regions[r].Start, sp&^(stackPage-1)), End: ends[r]}
			if b.regions[r].Kind == kindPrivate {
				b.regions[r].Kind = kindStack
			}
		}
	}
	for i := 1; i < len(b.regions); i++ {
		if b.regions[i-1].Kind == kindStack && b.sameMapping(i-1, i) {
			b.regions[i].Kind = kindStack
		}
	}
}

// regionAt returns the index of the region that contains a, or -1.
func (b *builder) regionAt(a target.Addr) int {
	i, found := slices.BinarySearchFunc(b.regions, a, func(r target.Region, a target.Addr) int { return cmp.Compare(r.Start, a) })
	if !found {
		i--
	}
	if i < 0 || uint64(a-b.regions[i].Start) >= b.regions[i].Size {
		return -1
	}
	return i
}

// sameMapping reports whether region j, the one after i, continues i: createdump writes the pages that it wants of a mapping as segments.
func (b *builder) sameMapping(i, j int) bool {
	x, y := &b.regions[i], &b.regions[j]
	return x.Start+target.Addr(x.Size) == y.Start && x.Prot == y.Prot && x.Path == "" && y.Path == "" && y.Kind != ""
}
