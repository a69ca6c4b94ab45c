package minidump

import (
	"iter"
	"math"
	"sort"

	"github.com/sosgo/sosgo/target"
)

// MINIDUMP_MEMORY_INFO_LIST and MINIDUMP_MEMORY_INFO.
const (
	memoryInfoListSize = 16
	memoryInfoSize     = 48
)

// State and type of memory, and page protection (winnt.h).
const (
	memReserve = 0x2000
	memFree    = 0x10000
	memPrivate = 0x20000
	memMapped  = 0x40000
	memImage   = 0x1000000

	pageAccess = 0xff // the access bits; guard and cache bits are above
)

// A MemoryInfo is VirtualQuery's description of a range of pages (MINIDUMP_MEMORY_INFO), with
// values of winnt.h.
type MemoryInfo struct {
	Start          target.Addr
	Size           uint64 // bytes
	AllocationBase target.Addr
	AllocationProt uint32 // PAGE_xxx
	State          uint32 // MEM_COMMIT, MEM_RESERVE or MEM_FREE
	Protect        uint32 // PAGE_xxx
	Type           uint32 // MEM_PRIVATE, MEM_MAPPED or MEM_IMAGE
}

func (i *MemoryInfo) end() target.Addr { return i.Start + target.Addr(i.Size) }

func (i *MemoryInfo) kind() target.RegionKind {
	switch {
	case i.State == memFree:
		return target.RegionFree
	case i.Type == memPrivate:
		return target.RegionPrivate
	case i.Type == memMapped:
		return target.RegionMapped
	case i.Type == memImage:
		return target.RegionImage
	}
	return target.RegionUnknown
}

// protection converts PAGE_xxx. Copy-on-write counts as writable.
func (i *MemoryInfo) protection() target.Protection {
	const r, w, x = target.ProtRead, target.ProtWrite, target.ProtExec
	switch i.Protect & pageAccess {
	case 0x02:
		return r
	case 0x04, 0x08:
		return r | w
	case 0x10:
		return x
	case 0x20:
		return r | x
	case 0x40, 0x80:
		return r | w | x
	}
	return 0
}

// MemoryInfos lists the dump's MemoryInfoList by address, without overlaps. It is empty if missing.
// The caller must not change the slice.
func (f *File) MemoryInfos() []MemoryInfo { return f.infos.get(f.loadMemoryInfos) }

func (f *File) loadMemoryInfos(n *notes) []MemoryInfo {
	s, ok := f.section(MemoryInfoListStream, n)
	if !ok {
		return nil
	}
	t := s.headedList(memoryInfoListSize, memoryInfoSize, true, f.mostRanges(), n)
	all := make([]MemoryInfo, 0, t.len())
	for i := range t.len() {
		e := t.at(i)
		info := MemoryInfo{
			Start:          f.addr(le.Uint64(e)),
			AllocationBase: f.addr(le.Uint64(e[8:])),
			AllocationProt: le.Uint32(e[16:]),
			Size:           le.Uint64(e[24:]),
			State:          le.Uint32(e[32:]),
			Protect:        le.Uint32(e[36:]),
			Type:           le.Uint32(e[40:]),
		}
		if info.Size > math.MaxUint64-uint64(info.Start) {
			n.add(s.errorf(i*memoryInfoSize, nil, "region of %#x bytes at %#x", info.Size, uint64(info.Start)))
			continue
		}
		if info.Size > 0 {
			all = append(all, info)
		}
	}
	byStart := func(i, j int) bool { return all[i].Start < all[j].Start }
	if !sort.SliceIsSorted(all, byStart) {
		sort.SliceStable(all, byStart)
	}
	kept := all[:0]
	for _, info := range all {
		if k := len(kept); k > 0 && info.Start < kept[k-1].end() {
			n.add(s.errorf(0, nil, "two regions have the address %#x: the lower one counts", uint64(info.Start)))
			continue
		}
		kept = append(kept, info)
	}
	return kept
}

// Regions implements target.Target. It yields the regions of the MemoryInfoList or of
// /proc/PID/maps, and the stored ranges outside of these regions. Of a stored range only the size
// is known, and whether it is part of a module. A region that is partly stored is divided at the
// starts of stored bytes.
func (f *File) Regions() iter.Seq[target.Region] {
	return func(yield func(target.Region) bool) {
		w := regionWalk{runs: f.storedRuns(), modules: f.Modules(), yield: yield}
		for _, info := range f.MemoryInfos() {
			if !w.yieldUnlisted(info.Start) {
				return
			}
			r := target.Region{Start: info.Start, Size: info.Size, Kind: info.kind(), Prot: info.protection()}
			if !w.yieldListed(r) {
				return
			}
		}
		if len(f.MemoryInfos()) == 0 {
			maps := f.mappings()
			for i := range maps {
				if !w.yieldUnlisted(maps[i].Start) || !w.yieldListed(maps[i].region()) {
					return
				}
			}
		}
		w.yieldUnlisted(math.MaxUint64)
	}
}

// storedRuns returns the stored ranges, joining adjacent ones.
func (f *File) storedRuns() []target.Range {
	ranges := f.mem.Ranges()
	runs := make([]target.Range, 0, len(ranges))
	for i := range ranges {
		r := target.RangeAt(ranges[i].Addr, ranges[i].Size)
		if n := len(runs); n > 0 && runs[n-1].End == r.Start {
			runs[n-1].End = r.End
			continue
		}
		runs = append(runs, r)
	}
	return runs
}

// A regionWalk merges listed regions with stored runs.
type regionWalk struct {
	runs    []target.Range // stored bytes that are not yielded yet
	modules []target.Module
	yield   func(target.Region) bool
}

// yieldUnlisted yields the runs below limit, which are in no listed region.
func (w *regionWalk) yieldUnlisted(limit target.Addr) bool {
	for len(w.runs) > 0 && w.runs[0].Start < limit {
		run := w.runs[0]
		run.End = min(run.End, limit, w.moduleEdge(run.Start))
		w.drop(run.End)
		if !w.yieldRegion(target.Region{Start: run.Start, Size: run.Size(), Stored: run.Size()}) {
			return false
		}
	}
	return true
}

// moduleEdge returns the lowest address above a at which a module begins or ends.
func (w *regionWalk) moduleEdge(a target.Addr) target.Addr {
	i := sort.Search(len(w.modules), func(i int) bool { return w.modules[i].Base > a })
	edge := target.Addr(math.MaxUint64)
	if i < len(w.modules) {
		edge = w.modules[i].Base
	}
	if m := w.module(a); m != nil && m.Size-uint64(a-m.Base) < uint64(edge-a) {
		edge = m.Base + target.Addr(m.Size)
	}
	return edge
}

// module returns the module that contains a, or nil.
func (w *regionWalk) module(a target.Addr) *target.Module { return target.ModuleAt(w.modules, a) }

// yieldListed yields r in pieces. The runs below r were yielded before.
func (w *regionWalk) yieldListed(r target.Region) bool {
	for end := r.Start + target.Addr(r.Size); r.Start < end; {
		r.Stored = 0
		if len(w.runs) > 0 && w.runs[0].Start == r.Start {
			stop := min(w.runs[0].End, end)
			r.Stored = uint64(stop - r.Start)
			w.drop(stop)
		}
		stop := end
		if len(w.runs) > 0 {
			stop = min(stop, w.runs[0].Start)
		}
		r.Size = uint64(stop - r.Start)
		if !w.yieldRegion(r) {
			return false
		}
		r.Start = stop
	}
	return true
}

// drop removes the addresses below limit from the first run.
func (w *regionWalk) drop(limit target.Addr) {
	if w.runs[0].End <= limit {
		w.runs = w.runs[1:]
		return
	}
	// The runs are this walk's own copy.
	w.runs[0].Start = limit
}

// yieldRegion yields r with the path of its module.
func (w *regionWalk) yieldRegion(r target.Region) bool {
	if r.Kind == target.RegionUnknown || r.Kind == target.RegionImage || r.Kind == target.RegionMapped && r.Path != "" {
		if m := w.module(r.Start); m != nil {
			r.Kind, r.Path = "image", m.Path
		}
	}
	return w.yield(r)
}
