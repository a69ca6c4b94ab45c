package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// rangeMemory is memory with one stored range.
type rangeMemory struct {
	base target.Addr
	b    []byte
}

func (m *rangeMemory) Span(a target.Addr) []byte {
	if a < m.base || uint64(a-m.base) >= uint64(len(m.b)) {
		return nil
	}
	return m.b[a-m.base:]
}

func (m *rangeMemory) View(a target.Addr, n int) ([]byte, bool) {
	s := m.Span(a)
	if n > len(s) {
		return nil, false
	}
	return s[:n:n], true
}

func (m *rangeMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := copy(p, m.Span(a))
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

const heapBase = 0x10000

// words returns memory at heapBase of 64-bit words.
func words(w ...uint64) *rangeMemory {
	m := &rangeMemory{base: heapBase}
	for _, v := range w {
		m.b = binary.LittleEndian.AppendUint64(m.b, v)
	}
	return m
}

// heapOffsets returns the offsets of a heap {-, FirstBlock, AllocPtr} and of blocks {Next, VirtualAddress,
// VirtualSize}.
func heapOffsets() *loaderOffsets {
	o := &loaderOffsets{}
	o.Heap.First, o.Heap.AllocPtr = 8, 16
	o.Heap.CommittedEnd, o.Heap.ReservedEnd, o.Heap.TotalAlloc = layout.Absent, layout.Absent, layout.Absent
	o.Block.Next, o.Block.Address, o.Block.Size = 0, 8, 16
	o.LoaderCodeHeap.First = 8
	o.HostCodeHeap.Base, o.HostCodeHeap.Current = 0x18, 0x20
	o.CodeHeapNode.Next, o.CodeHeapNode.Heap, o.CodeHeapNode.Base = 0, 8, 16
	return o
}

func TestLoaderHeap(t *testing.T) {
	const block1, block2 = heapBase + 24, heapBase + 48
	for _, c := range []struct {
		name   string
		mem    *rangeMemory
		blocks []LoaderHeapBlock
		err    error
	}{
		{"empty", words(0, 0, 0), nil, nil},
		{"two blocks, the first is current", words(0, block1, 0x5010, block2, 0x5000, 0x1000, 0, 0x40000, 0x10000),
			[]LoaderHeapBlock{{target.Range{Start: 0x5000, End: 0x6000}, true}, {target.Range{Start: 0x40000, End: 0x50000}, false}}, nil},
		{"a part of a page", words(0, block1, 0x5010, 0, 0x5000, 0x800), nil, target.ErrCorrupt},
		{"two parts of a reservation", words(0, block1, 0x5010, block2, 0x5000, 0x1000, 0, 0x40000, 0x8000), nil, target.ErrCorrupt},
		{"full to its end", words(0, block1, 0x6000, 0, 0x5000, 0x1000),
			[]LoaderHeapBlock{{target.Range{Start: 0x5000, End: 0x6000}, true}}, nil},
		{"cycle", words(0, block1, 0, block1, 0x5000, 0x1000), nil, target.ErrCorrupt},
		{"size past the end of the address space", words(0, block1, 0, 0, 0x5000, ^uint64(0)), nil, target.ErrCorrupt},
		{"block at 0", words(0, block1, 0, 0, 0, 0x1000), nil, target.ErrCorrupt},
		{"second block is missing", words(0, block1, 0x5010, 0x900000, 0x5000, 0x1000),
			[]LoaderHeapBlock{{target.Range{Start: 0x5000, End: 0x6000}, true}}, target.ErrNotInDump},
		{"cut", words(0), nil, target.ErrNotInDump},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Runtime{mem: c.mem}
			h := r.loaderHeap(heapOffsets(), LowFrequencyHeap, heapBase)
			if c.err != nil {
				require.ErrorIs(t, h.Err, c.err)
			} else {
				require.NoError(t, h.Err)
			}
			if c.blocks != nil {
				assert.Equal(t, c.blocks, h.Blocks)
			}
		})
	}
}

// TestLoaderHeapCounts compares the blocks of a heap with what the heap has committed and reserved.
func TestLoaderHeapCounts(t *testing.T) {
	const block1, block2 = heapBase + 48, heapBase + 72
	o := heapOffsets()
	o.Heap.CommittedEnd, o.Heap.ReservedEnd, o.Heap.TotalAlloc = 24, 32, 40
	for name, c := range map[string]struct {
		committed, reserved, total, next, size uint64
		kind                                   LoaderHeapKind
		sound                                  bool
	}{
		"sound":                         {0x52000, 0x60000, 0x12000, block2, 0x10000, LowFrequencyHeap, true},
		"an old block is not full":      {0x52000, 0x60000, 0x11000, block2, 0x10000, LowFrequencyHeap, true},
		"code and data":                 {0x54000, 0x60000, 0x18000, block2, 0x10000, FixupPrecodeHeap, true},
		"the list is cut":               {0x52000, 0x60000, 0x12000, 0, 0x10000, LowFrequencyHeap, false},
		"the current block is shorter":  {0x52000, 0x60000, 0x12000, block2, 0x8000, LowFrequencyHeap, false},
		"committed beyond its end":      {0x72000, 0x60000, 0x12000, block2, 0x10000, LowFrequencyHeap, false},
		"committed more than there are": {0x52000, 0x60000, 0x13000, block2, 0x10000, LowFrequencyHeap, false},
	} {
		mem := words(0, block1, 0x51000, c.committed, c.reserved, c.total, c.next, 0x50000, c.size, 0, 0x30000, 0x10000)
		h := (&Runtime{mem: mem}).loaderHeap(o, c.kind, heapBase)
		if c.sound {
			require.NoError(t, h.Err, name)
		} else {
			require.ErrorIs(t, h.Err, target.ErrCorrupt, name)
		}
	}
}

func TestCodeHeapKinds(t *testing.T) {
	const heap = heapBase + 24
	node := func(mapBase uint64) []uint64 { return []uint64{0, heap, mapBase} }
	host := words(append(node(0x7000), 1, 2, 3, 0x7000, 0x8000)...)
	h := (&Runtime{mem: host}).codeHeap(heapOffsets(), heapBase)
	assert.Equal(t, HostCodeHeap, h.Kind)
	assert.Equal(t, []LoaderHeapBlock{{target.Range{Start: 0x7000, End: 0x8000}, true}}, h.Blocks)

	loader := words(append(node(0x7000), 1, heap+5*8, 3, 0x7800, 0x9000, 0, 0x7000, 0x2000)...)
	h = (&Runtime{mem: loader}).codeHeap(heapOffsets(), heapBase)
	require.NoError(t, h.Err)
	assert.Equal(t, LoaderCodeHeap, h.Kind)
	assert.Equal(t, []LoaderHeapBlock{{target.Range{Start: 0x7000, End: 0x9000}, true}}, h.Blocks)

	h = (&Runtime{mem: words(0)}).codeHeap(heapOffsets(), heapBase)
	require.ErrorIs(t, h.Err, target.ErrNotInDump)
}

// TestHeapsWithoutLayout checks that members missing from the layout are left out, and that a layout without
// any is not supported.
func TestHeapsWithoutLayout(t *testing.T) {
	o := heapOffsets()
	setAllAbsent(o)
	assert.Empty(t, o.heaps())
	o.Allocator.LowFrequency = 0x10
	require.Len(t, o.heaps(), 1)
	assert.Equal(t, LowFrequencyHeap, o.heaps()[0].kind)
}

func setAllAbsent(o *loaderOffsets) {
	a, s, c := &o.Allocator, &o.SystemDomain, &o.CallStubs
	for _, p := range []*int{&a.LowFrequency, &a.HighFrequency, &a.Statics, &a.Stub, &a.Executable, &a.Fixup, &a.NewStub, &a.ObjectHandle,
		&a.CallStubs, &s.LowFrequency, &s.HighFrequency, &s.Stub, &s.CallStubs,
		&c.Indcell, &c.CacheEntry, &c.Lookup, &c.Resolve, &c.Dispatch} {
		*p = layout.Absent
	}
}

func FuzzLoaderHeap(f *testing.F) {
	f.Add(words(0, heapBase+24, 0x5010, heapBase+48, 0x5000, 0x1000, 0, 0x4000, 0x800).b)
	f.Add(words(0, heapBase, heapBase, heapBase, heapBase, heapBase).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &Runtime{mem: &rangeMemory{base: heapBase, b: b}}
		for _, h := range []LoaderHeap{r.loaderHeap(heapOffsets(), LowFrequencyHeap, heapBase), r.codeHeap(heapOffsets(), heapBase).LoaderHeap} {
			for _, block := range h.Blocks {
				if block.Range.End < block.Range.Start {
					t.Fatalf("block %v", block.Range)
				}
			}
		}
	})
}

func TestSplitMember(t *testing.T) {
	for name, want := range map[string][2]string{
		"Ns.Type.Member": {"Ns.Type", "Member"},
		"Ns.Type..ctor":  {"Ns.Type", ".ctor"},
		"Type":           {"", ""},
		".x":             {"", ""},
		"":               {"", ""},
	} {
		owner, member := splitMember(name)
		assert.Equal(t, want, [2]string{owner, member}, name)
	}
}
