package elfcore

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/target"
)

// buildRegions combines the segments and the mapped files.
func (b *builder) buildRegions() {
	images := map[target.Addr]bool{}
	for i := range b.Modules {
		for _, m := range b.Modules[i].Mappings {
			images[m.Start] = true
		}
	}
	files := b.files
	b.Regions = make([]target.Region, 0, len(b.loads)+len(files))
	var at target.Addr // the end of the regions so far
	for _, s := range b.loads {
		start, end := max(s.addr, at), s.addr+target.Addr(s.memSize)
		for start < end {
			for len(files) > 0 && files[0].End <= start {
				b.fileRegion(files[0], at, files[0].End, images)
				at, files = max(at, files[0].End), files[1:]
			}
			r := target.Region{Start: start, Prot: s.prot(), Kind: target.RegionPrivate}
			stop := end
			switch {
			case len(files) == 0 || files[0].Start >= end:
			case files[0].Start > start:
				stop = files[0].Start
			default:
				b.fileRegion(files[0], at, start, images)
				stop = min(end, files[0].End)
				r.Path, r.Kind = files[0].path, kindOfFile(images[files[0].Start])
				r.Offset = files[0].Offset + uint64(start-files[0].Start)
			}
			r.Size = uint64(stop - start)
			r.Stored = b.Stored(start, r.Size)
			b.Regions = append(b.Regions, r)
			start, at = stop, stop
		}
	}
	for _, m := range files {
		b.fileRegion(m, at, m.End, images)
		at = max(at, m.End)
	}
}

// fileRegion adds the part of m between from and to, which is in no segment.
func (b *builder) fileRegion(m fileMapping, from, to target.Addr, images map[target.Addr]bool) {
	if from = max(from, m.Start); from < to {
		b.Regions = append(b.Regions, target.Region{
			Start: from, Size: uint64(to - from), Kind: kindOfFile(images[m.Start]), Path: m.path, Offset: m.Offset + uint64(from-m.Start),
		})
	}
}

func kindOfFile(image bool) target.RegionKind {
	if image {
		return target.RegionImage
	}
	return target.RegionMapped
}

// sortedLoads returns the segments that describe memory, by address. It drops segments that wrap
// around the address space.
func sortedLoads(segments []segment) []segment {
	loads := make([]segment, 0, len(segments))
	for _, s := range segments {
		if s.typ == progLoad && s.memSize > 0 && s.addr+target.Addr(s.memSize) > s.addr {
			loads = append(loads, s)
		}
	}
	slices.SortStableFunc(loads, func(x, y segment) int { return cmp.Compare(x.addr, y.addr) })
	return loads
}
