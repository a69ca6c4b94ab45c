package scrub

import (
	"cmp"
	"slices"

	"github.com/sosgo/sosgo/internal/base/memmap"
	"github.com/sosgo/sosgo/target"
)

// A span is a part of the written file: a structure of the container, or memory.
type span struct {
	off, size int64
	addr      target.Addr // address of memory
	memory    bool
}

// A container is a dump's file in the form that a layout needs.
type container struct {
	src        target.Source
	structures []span
	ranges     []memmap.Range // in the order of readers' preference
	notes      []span         // notes of a core
	// edits adds structures, and returns replacements for parts of them.
	edits func(*job) ([]edit, error)
}

// An edit replaces bytes of the file.
type edit struct {
	off int64
	b   []byte
}

// A layout describes a dump's file. Bytes outside of all spans have no known use and are cleared.
type layout struct {
	spans []span // sorted by offset, disjoint
	edits []edit // sorted by offset
}

// newLayout places structures over the stored memory in a file of size bytes.
func newLayout(structures []span, stored []memmap.Range, edits []edit, size int64) *layout {
	l := &layout{edits: edits}
	clip := func(s span) (span, bool) {
		s.size = min(s.size, size-s.off)
		return s, s.off >= 0 && s.size > 0
	}
	var fixed, memory []span
	for _, s := range structures {
		if s, ok := clip(s); ok {
			fixed = append(fixed, s)
		}
	}
	for _, r := range stored {
		if s, ok := clip(span{off: r.Offset, size: int64(min(r.Size, uint64(size))), addr: r.Addr, memory: true}); ok {
			memory = append(memory, s)
		}
	}
	byOffset := func(a, b span) int { return cmp.Compare(a.off, b.off) }
	slices.SortStableFunc(fixed, byOffset)
	slices.SortStableFunc(memory, byOffset)
	end := int64(0)
	add := func(s span, until int64) {
		skip := max(end-s.off, 0)
		s.off, s.size, s.addr = s.off+skip, min(s.size-skip, until-s.off-skip), s.addr+target.Addr(skip)
		if s.size > 0 {
			l.spans = append(l.spans, s)
			end = s.off + s.size
		}
	}
	for _, f := range append(fixed, span{off: size}) {
		for len(memory) > 0 && memory[0].off < f.off {
			add(memory[0], f.off)
			if m := memory[0]; m.off+m.size > f.off {
				break // more of the memory may follow
			}
			memory = memory[1:]
		}
		add(f, size)
	}
	slices.SortStableFunc(l.edits, func(a, b edit) int { return cmp.Compare(a.off, b.off) })
	return l
}

// spansIn returns the spans that overlap [off, end).
func (l *layout) spansIn(off, end int64) []span {
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

// edit applies the edits that overlap b, which is at offset off of the file.
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
