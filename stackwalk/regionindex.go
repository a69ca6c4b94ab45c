package stackwalk

import (
	"sort"

	"github.com/sosgo/sosgo/target"
)

// A regionIndex finds the regions of a process by address.
type regionIndex struct {
	list []target.Region // by start
	ends []target.Addr   // ends[i] is the highest end of list[:i+1]
}

func newRegionIndex(t target.Target) *regionIndex {
	x := &regionIndex{}
	end := target.Addr(0)
	for r := range t.Regions() {
		end = max(end, r.Start+target.Addr(r.Size))
		x.list, x.ends = append(x.list, r), append(x.ends, end)
	}
	return x
}

// at returns the index of the last region that starts at a or below, or -1.
func (x *regionIndex) at(a target.Addr) int {
	return sort.Search(len(x.list), func(i int) bool { return x.list[i].Start > a }) - 1
}

// end returns the highest end of the regions that contain a. It returns 0 if none does.
func (x *regionIndex) end(a target.Addr) target.Addr {
	if i := x.at(a); i >= 0 && x.ends[i] > a {
		return x.ends[i]
	}
	return 0
}
