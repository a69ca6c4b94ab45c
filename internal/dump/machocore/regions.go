package machocore

import (
	"github.com/sosgo/sosgo/target"
)

// buildRegions adds a region for each segment, without the parts that earlier segments cover.
func (b *builder) buildRegions() {
	b.Regions = make([]target.Region, 0, len(b.loads))
	var at target.Addr // the end of the regions so far
	for i := range b.loads {
		s := &b.loads[i]
		start, end := max(target.Addr(s.Addr), at), target.Addr(s.Addr+s.Size)
		if start >= end {
			continue
		}
		r := target.Region{Start: start, Size: uint64(end - start), Prot: s.Prot, Kind: target.RegionPrivate}
		r.Stored = b.Stored(start, r.Size)
		switch m := target.ModuleAt(b.Modules, start); {
		case isMadeUp(s.Addr):
			r.Kind = ""
		case m != nil:
			r.Kind, r.Path = target.RegionImage, m.Path
		}
		b.Regions = append(b.Regions, r)
		at = end
	}
}
