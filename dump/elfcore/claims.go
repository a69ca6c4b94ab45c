package elfcore

import "github.com/sosgo/sosgo/target"

// Claims returns the memory that the process had, stored or not. A core lists it by its segments, with their bytes or without, and by the
// mapped files; memory that the process reserved without access does not count. Kernels list all; so do those who take
// whole regions, which the dead part of a stack shows (HasDeadStacks).
func (f *File) Claims() *target.Claims { return f.claims }

func (f *File) makeClaims() *target.Claims {
	listed := make([]target.Range, 0, len(f.regions)+len(f.modules))
	for i := range f.regions {
		r := &f.regions[i]
		if r.Prot != 0 || r.Path != "" || r.Stored > 0 {
			listed = append(listed, target.Range{Start: r.Start, End: r.Start + target.Addr(r.Size)})
		}
	}
	for i := range f.modules {
		if m := &f.modules[i]; m.Base+target.Addr(m.Size) > m.Base {
			listed = append(listed, target.Range{Start: m.Base, End: m.Base + target.Addr(m.Size)})
		}
	}
	c := target.NewClaims(f.platform.Arch, listed, false)
	if c.HasDeadStacks(f.threads) {
		c = c.AsWhole()
	}
	return c
}
