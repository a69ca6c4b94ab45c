package dac

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sort"

	"github.com/sosgo/sosgo/internal/base/lazy"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A RangeSection is a range of addresses with managed code (codeman.h): a heap of the JIT compiler or the
// interpreter, or a ReadyToRun image. Verified on 3.1, 6, 8, 9 and 10.
type RangeSection struct {
	Addr  target.Addr
	Range target.Range
	Kind  CodeKind    // Stub if another manager owns it
	Heap  target.Addr // CodeHeapListNode of compiled code or byte code
	Image target.Addr // Module of an image

	heap codeHeap
	r2r  lazy.Value[*r2rImage]
	err  error // why the other members are unreadable
}

// The map from addresses to sections since .NET 8 (codeman.h, RangeSectionMap) is a radix tree over 57 address
// bits with eight bits a level. The lowest bit of a pointer marks parts that can be unloaded.
const (
	radixLevels   = 5
	radixBits     = 8
	radixTopShift = 49
	radixFlag     = 1
)

// rangeSection finds the section with ip. It searches the list of all sections, which is read once, or the map
// if parts of it are not in the dump.
func (r *CodeReader) rangeSection(c *members, ip target.Addr) (*RangeSection, error) {
	list, err := r.sectionList(c)
	i := sort.Search(len(list), func(i int) bool { return list[i].Range.Start > ip }) - 1
	if i >= 0 && list[i].Range.Contains(ip) {
		return list[i], list[i].err
	}
	switch {
	case err == nil:
		return nil, ErrNoCode
	case c.rangeMap == 0 || !errors.Is(err, target.ErrNotInDump):
		return nil, err
	}
	return r.mappedSection(c, ip)
}

// mappedSection finds the section with ip through the map.
func (r *CodeReader) mappedSection(c *members, ip target.Addr) (*RangeSection, error) {
	if c.RangeMap.Top == layout.Absent || c.Fragment.Section == layout.Absent {
		return nil, &layout.Error{Type: "RangeSectionMap"}
	}
	at := c.rangeMap + target.Addr(c.RangeMap.Top)
	for level := range radixLevels {
		index := uint64(ip) >> (radixTopShift - radixBits*level) & (1<<radixBits - 1)
		p, err := target.Pointer(r.mem, at+target.Addr(8*index))
		if err != nil {
			return nil, fmt.Errorf("code of %016x: %w", uint64(ip), err)
		}
		if at = p &^ radixFlag; at == 0 {
			return nil, ErrNoCode
		}
	}
	return r.fragment(c, at, ip)
}

// fragment searches a leaf's list of fragments.
func (r *CodeReader) fragment(c *members, at, ip target.Addr) (*RangeSection, error) {
	for range limits.FragmentsPerLeaf {
		if at == 0 {
			return nil, ErrNoCode
		}
		rd := layout.Reader{Mem: r.mem, Base: at}
		if rg := (target.Range{Start: rd.Ptr(c.Fragment.Begin), End: rd.Ptr(c.Fragment.End)}); rg.Contains(ip) {
			section := rd.Ptr(c.Fragment.Section)
			if rd.Err != nil {
				return nil, rd.Err
			}
			return r.section(c, section)
		}
		at = rd.Ptr(c.Fragment.Next) &^ radixFlag
		if rd.Err != nil {
			return nil, fmt.Errorf("code of %016x: %w", uint64(ip), rd.Err)
		}
	}
	return nil, target.Corruptf("the list of code fragments of %016x has no end", uint64(ip))
}

// section reads and caches a RangeSection.
func (r *CodeReader) section(c *members, a target.Addr) (*RangeSection, error) {
	if s, ok := r.sections.Load(a); ok {
		return s.(*RangeSection), s.(*RangeSection).err
	}
	s := &RangeSection{Addr: a}
	s.err = r.readSection(c, s)
	kept, _ := r.sections.LoadOrStore(a, s)
	return kept.(*RangeSection), kept.(*RangeSection).err
}

// sectionCodeHeap is the flag of a RangeSection that has a code heap (codeman.h, RANGE_SECTION_CODEHEAP, 8 and later).
const sectionCodeHeap = 0x2

func (r *CodeReader) readSection(c *members, s *RangeSection) error {
	rd, o := layout.Reader{Mem: r.mem, Base: s.Addr}, &c.RangeSection
	s.Range = target.Range{Start: rd.Ptr(o.Begin), End: rd.Ptr(o.End)}
	manager := rd.Ptr(o.JitManager)
	heap, image := rd.Ptr(o.HeapList), rd.Ptr(o.R2RModule)
	var flags uint32
	if c.interpreted != 0 {
		flags = rd.U32(o.Flags)
	} else if o.Flags != layout.Absent {
		flags, _ = target.Uint32(r.mem, s.Addr+target.Addr(o.Flags)) // without them the section has no contradiction
	}
	if rd.Err != nil {
		return fmt.Errorf("RangeSection %016x: %w", uint64(s.Addr), rd.Err)
	}
	if s.Range.End < s.Range.Start || s.Range.Start == 0 {
		err := target.Corruptf("RangeSection %016x from %016x to %016x", uint64(s.Addr), uint64(s.Range.Start), uint64(s.Range.End))
		s.Range = target.Range{} // it hides no other section
		return err
	}
	switch {
	case c.rangeMap != 0 && flags&sectionCodeHeap != 0 && heap == 0 || manager == 0:
		return target.Corruptf("RangeSection %016x has neither methods nor a list of ranges", uint64(s.Addr))
	case flags&c.interpreted != 0:
		s.Kind, s.Heap = CodeInterpreted, heap
		return r.readCodeHeap(c, s)
	case manager != 0 && manager == c.r2rManager, c.r2rByImage && image != 0 && manager != c.jitManager:
		s.Kind, s.Image = CodeReadyToRun, image
	case manager != 0 && manager == c.jitManager && heap != 0: // without a heap: precode and other stubs
		s.Kind, s.Heap = CodeJIT, heap
		return r.readCodeHeap(c, s)
	case c.managerErr != nil:
		return fmt.Errorf("RangeSection %016x: %w", uint64(s.Addr), c.managerErr)
	default:
		s.Kind = CodeStub
	}
	return nil
}

// readSections reads the list. It returns the sections found together with an error.
func (r *CodeReader) readSections(c *members) ([]*RangeSection, error) {
	if errors.Is(c.rangeListErr, target.ErrNotInDump) || layout.IsRefused(c.rangeListErr) {
		return nil, c.rangeListErr
	}
	if c.rangeList == 0 || c.RangeSection.Next == layout.Absent {
		return nil, &layout.Error{Type: "global CodeRangeList"}
	}
	var out []*RangeSection
	at := c.rangeList
	for range limits.RangeSections {
		if at == 0 {
			return ordered(out), nil
		}
		s, err := r.section(c, at)
		if err != nil && s.Range.Size() == 0 {
			return ordered(out), err
		}
		out = append(out, s)
		if at, err = r.ptr(at, c.RangeSection.Next, "RangeSection.Next"); err != nil {
			return ordered(out), err
		}
	}
	return ordered(out), target.Corruptf("the list of code ranges has no end")
}

// ordered sorts sections by address and drops those that overlap an earlier one.
func ordered(list []*RangeSection) []*RangeSection {
	slices.SortStableFunc(list, func(a, b *RangeSection) int {
		return cmp.Or(cmp.Compare(a.Range.Start, b.Range.Start), cmp.Compare(a.Addr, b.Addr))
	})
	out := list[:0]
	for _, s := range list {
		if n := len(out); n == 0 || s.Range.Start >= out[n-1].Range.End {
			out = append(out, s)
		}
	}
	return out
}

// RangeSections returns all ranges of managed code by address, together with an error if some are missing.
func (r *CodeReader) RangeSections() ([]*RangeSection, error) {
	c, err := r.members()
	if err != nil {
		return nil, err
	}
	list, err := r.sectionList(c)
	return slices.Clone(list), err
}

func (r *CodeReader) sectionList(c *members) ([]*RangeSection, error) {
	return r.list.Get(func() ([]*RangeSection, error) {
		list, err := r.uncompared(c)
		if err == nil && r.rt != nil { // memory alone has nothing to compare with
			err = r.lostSection(c, list)
		}
		return list, err
	})
}

// uncompared is sectionList without the comparison with what must be in the list.
func (r *CodeReader) uncompared(c *members) ([]*RangeSection, error) {
	return r.ranges.Get(func() ([]*RangeSection, error) {
		if c.rangeMap == 0 {
			return r.readSections(c)
		}
		return r.mappedSections(c)
	})
}

// knownSections returns the ranges of managed code that can be read.
func (r *CodeReader) knownSections() []*RangeSection {
	c, err := r.members()
	if err != nil {
		return nil
	}
	list, _ := r.uncompared(c)
	return list
}

// lostSection returns an error if a complete list lacks a range that must be in it: the memory of a code heap of the JIT
// compiler, or the image of a module with precompiled code. Without ranges all code would look like native code.
func (r *CodeReader) lostSection(c *members, list []*RangeSection) error {
	images := map[target.Addr]bool{}
	for _, s := range list {
		images[s.Image] = true
	}
	heaps, _ := r.Runtime().codeHeaps() // what can't be read is not compared
	for i := range heaps {
		for _, b := range heaps[i].Blocks {
			at := sort.Search(len(list), func(i int) bool { return list[i].Range.End > b.Range.Start })
			if b.Range.Size() > 0 && (at == len(list) || list[at].Range.Start >= b.Range.End) { // its header may be outside
				return target.Corruptf("the code heap at %016x is in no range of code", uint64(b.Range.Start))
			}
		}
	}
	modules, _ := r.Runtime().Modules()
	for _, m := range modules {
		if !images[m.Addr] && r.hasOwnCode(c, m) {
			return target.Corruptf("the precompiled code of the module at %016x is in no range of code", uint64(m.Addr))
		}
	}
	return nil
}

// hasOwnCode reports whether a module has precompiled code in an image of its own.
func (r *CodeReader) hasOwnCode(c *members, m *Module) bool {
	info, err := r.ptr(m.Addr, c.Module.ReadyToRun, "Module.ReadyToRunInfo")
	if err != nil || info == 0 || c.ReadyToRun.Composite == layout.Absent {
		return false
	}
	rd := layout.Reader{Mem: r.mem, Base: info}
	return rd.Ptr(c.ReadyToRun.Composite) == info && rd.U32(c.ReadyToRun.NumFunctions) > 0 && rd.Err == nil
}

// mappedSections reads the whole map.
func (r *CodeReader) mappedSections(c *members) ([]*RangeSection, error) {
	if c.RangeMap.Top == layout.Absent || c.Fragment.Section == layout.Absent {
		return nil, &layout.Error{Type: "RangeSectionMap"}
	}
	w := radixWalk{r: r, c: c, nodes: map[target.Addr]bool{}, found: map[target.Addr]*RangeSection{}}
	err := w.level(c.rangeMap+target.Addr(c.RangeMap.Top), 0)
	out := make([]*RangeSection, 0, len(w.found))
	for _, s := range w.found {
		out = append(out, s)
	}
	if err == nil {
		err = w.err
	}
	return ordered(out), err
}

// A radixWalk visits the whole map. A node that it meets twice is corrupt: the tree of a hostile dump would
// otherwise have 2^40 leaves.
type radixWalk struct {
	r     *CodeReader
	c     *members
	nodes map[target.Addr]bool
	found map[target.Addr]*RangeSection
	err   error // the first unreadable part
}

func (w *radixWalk) level(at target.Addr, level int) error {
	if w.nodes[at] && level == radixLevels {
		return nil
	}
	if w.nodes[at] || len(w.nodes) >= limits.RadixNodes {
		return target.Corruptf("the map of code ranges has a cycle at %016x", uint64(at))
	}
	w.nodes[at] = true
	if level == radixLevels {
		return w.leaf(at)
	}
	b, err := target.Bytes(w.r.mem, at, 8<<radixBits)
	if err != nil {
		w.keep(err)
		return nil
	}
	for ; len(b) > 0; b = b[8:] {
		if next := target.Addr(binary.LittleEndian.Uint64(b)) &^ radixFlag; next != 0 {
			if err := w.level(next, level+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaf collects the sections in a list of fragments. A section has a fragment in each leaf that it extends
// into, so sections repeat.
func (w *radixWalk) leaf(at target.Addr) error {
	for n := 0; at != 0; n++ {
		if n == limits.FragmentsPerLeaf {
			return target.Corruptf("the list of code fragments has no end")
		}
		rd := layout.Reader{Mem: w.r.mem, Base: at}
		section, next := rd.Ptr(w.c.Fragment.Section), rd.Ptr(w.c.Fragment.Next)
		if rd.Err != nil {
			w.keep(rd.Err)
			return nil
		}
		if w.found[section] == nil {
			if len(w.found) >= limits.RangeSections {
				return target.Corruptf("more than %d ranges of code", limits.RangeSections)
			}
			s, err := w.r.section(w.c, section)
			if err != nil {
				w.keep(err)
			}
			if s.Range.Size() > 0 {
				w.found[section] = s
			}
		}
		at = next &^ radixFlag
	}
	return nil
}

func (w *radixWalk) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// A codeHeap is a CodeHeapListNode: memory for code of the JIT compiler or the interpreter, with a nibble map
// of the starts.
type codeHeap struct {
	code target.Range
	base target.Addr // base of the nibble map
	nib  nibbleMap
}

// largestPage is the size of the largest pages: a nibble map begins at the page of the heap's first code (codeman.cpp,
// EEJitManager::NewCodeHeap).
const largestPage = 64 << 10

func (r *CodeReader) readCodeHeap(c *members, s *RangeSection) error {
	rd, o := layout.Reader{Mem: r.mem, Base: s.Heap}, &c.CodeHeap
	s.heap = codeHeap{code: target.Range{Start: rd.Ptr(o.Start), End: rd.Ptr(o.End)}, base: rd.Ptr(o.Base)}
	s.heap.nib = nibbleMap{mem: r.mem, at: rd.Ptr(o.Map), pointers: c.nibbleMap == nibbleMapPointers}
	switch {
	case rd.Err != nil:
		return fmt.Errorf("code heap %016x: %w", uint64(s.Heap), rd.Err)
	case c.nibbleMap == 0:
		return &layout.Error{Type: "constant NibbleMap"}
	case s.heap.code.Start < s.heap.base || s.heap.code.End < s.heap.code.Start:
		return target.Corruptf("code heap %016x from %016x to %016x, mapped from %016x", uint64(s.Heap),
			uint64(s.heap.code.Start), uint64(s.heap.code.End), uint64(s.heap.base))
	case s.heap.code.Start-s.heap.base >= largestPage:
		return target.Corruptf("code heap %016x from %016x is mapped from %016x, another page", uint64(s.Heap), uint64(s.heap.code.Start), uint64(s.heap.base))
	case s.heap.nib.at == 0:
		return target.Corruptf("code heap %016x has no map of its methods", uint64(s.Heap))
	}
	return nil
}

// JITCode iterates over all code compiled in the process, by address: methods, dynamic methods and stubs. It
// yields an error for a missing part of a heap's map, and continues.
func (r *CodeReader) JITCode() iter.Seq2[CodeInfo, error] {
	return func(yield func(CodeInfo, error) bool) {
		sections, err := r.RangeSections()
		if err != nil && !yield(CodeInfo{}, err) {
			return
		}
		for _, s := range sections {
			if s.Kind != CodeJIT || s.err != nil {
				continue
			}
			for start, err := range s.heap.nib.starts(uint64(s.heap.code.End - s.heap.base)) {
				var info CodeInfo
				if err == nil {
					info, err = r.MethodAt(s.heap.base + target.Addr(start))
				}
				if !yield(info, err) {
					return
				}
			}
		}
	}
}
