package scrub

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/internal/memmap"
	"github.com/sosgo/sosgo/target"
)

// A span is a part of the file that is written: a structure of the container, or memory.
type span struct {
	off, size int64
	addr      target.Addr // of memory
	memory    bool
}

// An edit is bytes that replace others of the file.
type edit struct {
	off int64
	b   []byte
}

// A layout is what stands where in a dump's file. What is in none of the spans has no known use and is cleared.
type layout struct {
	spans []span // by offset, disjoint
	edits []edit // by offset
}

// newLayout lays structures over the stored memory.
func newLayout(structures []span, stored []memmap.Range, edits []edit) *layout {
	l := &layout{edits: edits}
	all := slices.Clone(structures)
	for _, r := range stored {
		all = append(all, span{off: r.Offset, size: int64(r.Size), addr: r.Addr, memory: true})
	}
	// Structures come first where they begin with memory.
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.off, b.off) })
	end := int64(0)
	for _, s := range all {
		if n := max(end-s.off, 0); n > 0 {
			s.off, s.size, s.addr = s.off+n, s.size-n, s.addr+target.Addr(n)
		}
		if s.size > 0 {
			l.spans = append(l.spans, s)
			end = s.off + s.size
		}
	}
	slices.SortStableFunc(l.edits, func(a, b edit) int { return cmp.Compare(a.off, b.off) })
	return l
}

// over returns the spans that overlap [off, end).
func (l *layout) over(off, end int64) []span {
	from, _ := slices.BinarySearchFunc(l.spans, off, func(s span, off int64) int {
		if s.off+s.size <= off {
			return -1
		}
		return 1
	})
	to := from
	for to < len(l.spans) && l.spans[to].off < end {
		to++
	}
	return l.spans[from:to]
}

// edit applies the edits that overlap b, which stands at off of the file.
func (l *layout) edit(b []byte, off int64) {
	for _, e := range l.edits {
		if e.off >= off+int64(len(b)) {
			return
		}
		if from := off - e.off; from < int64(len(e.b)) {
			copy(b[max(-from, 0):], e.b[max(from, 0):])
		}
	}
}

// place returns the edits of the file that write b to the memory at a, as far as it is stored.
func place(stored []memmap.Range, a target.Addr, b []byte) (out []edit) {
	i, _ := slices.BinarySearchFunc(stored, a, func(r memmap.Range, a target.Addr) int {
		if r.Addr+target.Addr(r.Size) <= a {
			return -1
		}
		return 1
	})
	for ; i < len(stored) && len(b) > 0 && stored[i].Addr < a+target.Addr(len(b)); i++ {
		r := &stored[i]
		skip := int64(0)
		if r.Addr > a {
			skip = int64(r.Addr - a)
		}
		from := int64(a) + skip - int64(r.Addr)
		n := min(int64(len(b))-skip, int64(r.Size)-from)
		out = append(out, edit{r.Offset + from, b[skip : skip+n]})
	}
	return out
}
