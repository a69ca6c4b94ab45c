package dac

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A codeBuilder builds memory with the structures of code lookup. Addresses are offsets in it.
type codeBuilder struct {
	b []byte
	c *members
}

const (
	testJIT = 0x5550 // RangeSection.JitManager
	testR2R = 0x6660
)

func newCodeBuilder() *codeBuilder {
	c := &members{stubKindLast: stubCodeBlockLast, nibbleMap: 1, jitManager: testJIT, r2rManager: testR2R}
	c.Fragment.Begin, c.Fragment.End, c.Fragment.Section = 8, 16, 24
	s := &c.RangeSection
	s.End, s.JitManager, s.R2RModule, s.HeapList, s.Next = 8, 24, 32, 40, 48
	h := &c.CodeHeap
	h.Heap, h.Start, h.End, h.Base, h.Map = 8, 16, 24, 32, 40
	return &codeBuilder{b: make([]byte, 16), c: c}
}

func (b *codeBuilder) add(words ...uint64) uint64 {
	at := uint64(len(b.b))
	for _, w := range words {
		b.b = binary.LittleEndian.AppendUint64(b.b, w)
	}
	return at
}

func (b *codeBuilder) set(at, v uint64) { binary.LittleEndian.PutUint64(b.b[at:], v) }

// radix adds the nodes on the way to an address and returns the leaf's slot.
func (b *codeBuilder) radix(top uint64, ip uint64) uint64 {
	node := top
	for level := range radixLevels - 1 {
		slot := node + 8*(ip>>(radixTopShift-radixBits*level)&0xff)
		if binary.LittleEndian.Uint64(b.b[slot:]) == 0 {
			b.set(slot, b.add(make([]uint64, 256)...)|radixFlag)
		}
		node = binary.LittleEndian.Uint64(b.b[slot:]) &^ radixFlag
	}
	return node + 8*(ip>>(radixTopShift-radixBits*(radixLevels-1))&0xff)
}

func (b *codeBuilder) section(start, end, manager uint64) uint64 {
	heap := b.add(0, 0, start, end, start, 8)
	return b.add(start, end, 0, manager, 0, heap, 0)
}

func (b *codeBuilder) runtime() *CodeReader {
	r := &CodeReader{mem: layout.BytesMemory(b.b)}
	_, _ = r.bound.Get(func() (*members, error) { return b.c, nil })
	return r
}

func TestRadixMap(t *testing.T) {
	b := newCodeBuilder()
	top := b.add(make([]uint64, 256)...)
	b.c.rangeMap = target.Addr(top)
	jit := b.section(0x7f0000000000, 0x7f0000040000, testJIT)
	other := b.section(0x7f0000040000, 0x7f0000050000, 0x1234)
	leaf := b.radix(top, 0x7f0000000000)
	b.set(leaf, b.add(b.add(0, 0x7f0000040000, 0x7f0000050000, other), 0x7f0000000000, 0x7f0000040000, jit))
	b.set(b.radix(top, 0x7f0000020000), binary.LittleEndian.Uint64(b.b[leaf:]))
	b.set(b.radix(top, 0x7f0000040000), binary.LittleEndian.Uint64(b.b[leaf:]))
	r := b.runtime()
	for _, c := range []struct {
		ip   target.Addr
		want target.Addr
		kind CodeKind
	}{{0x7f0000000000, target.Addr(jit), CodeJIT}, {0x7f000003ffff, target.Addr(jit), CodeJIT}, {0x7f0000040000, target.Addr(other), CodeStub}} {
		s, err := r.rangeSection(b.c, c.ip)
		require.NoError(t, err)
		assert.Equal(t, c.want, s.Addr)
		assert.Equal(t, c.kind, s.Kind)
	}
	for _, ip := range []target.Addr{0, 0x1000, 0x7f0000050000, ^target.Addr(0)} {
		_, err := r.rangeSection(b.c, ip)
		assert.ErrorIs(t, err, ErrNoCode, ip)
	}
}

func TestRangeSections(t *testing.T) {
	b := newCodeBuilder()
	top := b.add(make([]uint64, 256)...)
	b.c.rangeMap = target.Addr(top)
	one := b.section(0x7f0000000000, 0x7f0000030000, testJIT)
	overlap := b.section(0x7f0000020000, 0x7f0000040000, testJIT)
	b.set(b.radix(top, 0x7f0000000000), b.add(b.add(0, 1, 2, overlap), 1, 2, one))
	list, err := b.runtime().RangeSections()
	require.NoError(t, err)
	require.Len(t, list, 1, "what overlaps is left out")
	assert.Equal(t, target.Addr(one), list[0].Addr)
}

// TestRadixCycle checks that a map with nodes that refer to themselves is an error.
func TestRadixCycle(t *testing.T) {
	b := newCodeBuilder()
	top := b.add(make([]uint64, 256)...)
	for i := range uint64(256) {
		b.set(top+8*i, top)
	}
	b.c.rangeMap = target.Addr(top)
	_, err := b.runtime().RangeSections()
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

func TestFragmentCycle(t *testing.T) {
	b := newCodeBuilder()
	top := b.add(make([]uint64, 256)...)
	b.c.rangeMap = target.Addr(top)
	f := b.add(0, 1, 2, b.section(1, 2, 0))
	b.set(f, f)
	b.set(b.radix(top, 0x7f0000000000), f)
	r := b.runtime()
	_, err := r.rangeSection(b.c, 0x7f0000000000)
	assert.ErrorIs(t, err, target.ErrCorrupt)
	_, err = r.RangeSections()
	assert.ErrorIs(t, err, target.ErrCorrupt)
}

// TestSectionList tests the list of runtimes before 8.
func TestSectionList(t *testing.T) {
	b := newCodeBuilder()
	second := b.section(0x1000000, 0x1040000, testJIT)
	first := b.section(0x2000000, 0x2040000, testJIT)
	b.set(first+48, second)
	b.c.rangeList = target.Addr(first)
	r := b.runtime()
	s, err := r.rangeSection(b.c, 0x1000010)
	require.NoError(t, err)
	assert.Equal(t, target.Addr(second), s.Addr)
	_, err = r.rangeSection(b.c, 0x1800000)
	assert.ErrorIs(t, err, ErrNoCode)

	b.set(second+48, first)
	r = b.runtime()
	_, err = r.rangeSection(b.c, 0x1800000)
	assert.ErrorIs(t, err, target.ErrCorrupt, "a list without end")
	s, err = r.rangeSection(b.c, 0x1000010)
	assert.NoError(t, err, "what was found counts")
	assert.Equal(t, target.Addr(second), s.Addr)
}

func TestCodeHeader(t *testing.T) {
	b := newCodeBuilder()
	o := &b.c.CodeHeader
	o.GCInfo, o.MethodDesc, o.NumUnwind, o.Unwind = 16, 24, 32, 36
	b.c.Function.Size, b.c.Function.End, b.c.Function.Unwind = 12, 4, 8
	for name, count := range map[string]uint64{"none": 0, "too many": limits.Funclets + 1} {
		header := b.add(0, 0, 0, 0, count, 0)
		body := &body{}
		err := b.runtime().readCodeHeader(b.c, body, target.Addr(header))
		assert.ErrorIs(t, err, target.ErrCorrupt, name)
	}
}

func TestBodySize(t *testing.T) {
	read := func(b []byte) func(int, int) ([]byte, error) {
		return func(off, n int) ([]byte, error) { return target.Bytes(layout.BytesMemory(b), target.Addr(off), n) }
	}
	fat := []byte{0x13, 0x30, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2a}
	for _, c := range []struct {
		name string
		b    []byte
		want int
	}{
		{"tiny", []byte{0x0e, 0, 0, 0x2a}, 4},
		{"fat", fat, 15},
	} {
		n, err := bodySize(read(c.b))
		assert.NoError(t, err, c.name)
		assert.Equal(t, c.want, n, c.name)
	}
	for name, b := range map[string][]byte{
		"empty":            nil,
		"header cut":       fat[:5],
		"huge":             {0x13, 0x30, 2, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0},
		"section of 0":     {0x1b, 0x30, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 0},
		"section cut":      {0x1b, 0x30, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 4},
		"sections forever": append([]byte{0x1b, 0x30, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0x81, 4, 0, 0, 0x81, 4, 0, 0),
	} {
		_, err := bodySize(read(b))
		assert.Error(t, err, name)
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte{0x0e, 0, 0, 0x2a})
	f.Add([]byte{0x1b, 0x30, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a, 0, 0, 0, 1, 16, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = readBody(func(off, n int) ([]byte, error) { return target.Bytes(layout.BytesMemory(b), target.Addr(off), n) })
	})
}

func TestFlagBit(t *testing.T) {
	for _, s := range []string{"", "Flags", "Flags4:0x1", "Flags:x", "Flags:0x10000"} {
		_, err := parseFlagBit(s)
		assert.ErrorIs(t, err, target.ErrCorrupt, s)
	}
	b, err := parseFlagBit("Flags3:0x8000")
	require.NoError(t, err)
	assert.True(t, b.isSet(&MethodDesc{flags3: 0x8000}))
	assert.False(t, b.isSet(&MethodDesc{Flags: 0x8000, Flags2: 0x80}))
}

// TestLostSections takes ranges of code away. All code would be native then, and all stacks empty.
func TestLostSections(t *testing.T) {
	inst := openInstance(t, "net10-zoo", target.ArchAMD64)
	memory := inst.mem
	rt, err := inst.Open()
	require.NoError(t, err)
	whole, err := CodeOf(rt).RangeSections()
	require.NoError(t, err)
	top, err := rt.Layout().Variable("ExecutionManagerCodeRangeMapAddress")
	require.NoError(t, err)
	c, err := CodeOf(rt).members()
	require.NoError(t, err)
	word := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	for name, damage := range map[string]func(patch map[target.Addr][]byte, s *RangeSection){
		"all": func(patch map[target.Addr][]byte, _ *RangeSection) {
			patch[top+target.Addr(c.RangeMap.Top)] = make([]byte, 8<<radixBits)
		},
		"code heaps": func(patch map[target.Addr][]byte, s *RangeSection) {
			if s.Kind == CodeJIT { // it moves
				patch[s.Addr+target.Addr(c.RangeSection.Begin)] = word(0x1000)
				patch[s.Addr+target.Addr(c.RangeSection.End)] = word(0x1001)
			}
		},
		"precompiled code": func(patch map[target.Addr][]byte, s *RangeSection) {
			if s.Kind == CodeReadyToRun { // it belongs to another module
				patch[s.Addr+target.Addr(c.RangeSection.R2RModule)] = word(8)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			patch := map[target.Addr][]byte{}
			for _, s := range whole {
				damage(patch, s)
			}
			inst.mem = patchedMemory{memory, patch}
			defer func() { inst.mem = memory }()
			rt, err := inst.Open()
			require.NoError(t, err)
			_, err = CodeOf(rt).RangeSections()
			require.ErrorIs(t, err, target.ErrCorrupt)
			_, err = CodeOf(rt).MethodAt(0x2000)
			require.ErrorIs(t, err, target.ErrCorrupt, "an address in no range may have been in a lost one")
		})
	}
}
