package stackwalk

import (
	"sort"
	"sync"

	"github.com/sosgo/sosgo/target"
)

// A regionIndex finds the regions of a process by address. It is filled when it is first used.
type regionIndex struct {
	process target.Target
	once    sync.Once
	list    []target.Region // by start
	ends    []target.Addr   // ends[i] is the highest end of list[:i+1]
}

func newRegionIndex(t target.Target) *regionIndex { return &regionIndex{process: t} }

func (x *regionIndex) fill() {
	end := target.Addr(0)
	for r := range x.process.Regions() {
		end = max(end, r.Start+target.Addr(r.Size))
		x.list, x.ends = append(x.list, r), append(x.ends, end)
	}
}

// at returns the index of the last region that starts at a or below, or -1.
func (x *regionIndex) at(a target.Addr) int {
	x.once.Do(x.fill)
	return sort.Search(len(x.list), func(i int) bool { return x.list[i].Start > a }) - 1
}

// executes reports whether a region that contains a may be executed, or that is not known: createdump gives the mappings of
// a file one protection.
func (x *regionIndex) executes(a target.Addr) bool {
	i := x.at(a)
	if i < 0 || x.ends[i] <= a {
		return false
	}
	r := &x.list[i]
	return r.Prot == 0 || r.Prot&target.ProtExec != 0 || r.Path != ""
}

// end returns the highest end of the regions that contain a. It returns 0 if none does.
func (x *regionIndex) end(a target.Addr) target.Addr {
	if i := x.at(a); i >= 0 && x.ends[i] > a {
		return x.ends[i]
	}
	return 0
}
