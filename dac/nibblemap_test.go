package dac

import (
	"encoding/binary"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// A code is a piece of code in a heap.
type code struct{ start, size uint64 }

// makeNibbleMap returns the map of a heap as the runtime writes it.
func makeNibbleMap(codes []code, heap uint64, pointers bool) []byte {
	words := make([]uint32, heap/(nibbleBucket*nibbleWord)+1)
	for _, c := range codes {
		pos := c.start / nibbleBucket
		words[pos/nibbleWord] |= uint32(c.start%nibbleBucket/nibbleAlign+1) << (28 - 4*(pos%nibbleWord))
		if !pointers {
			continue
		}
		last := (c.start + c.size - 1) / nibbleBucket / nibbleWord
		for w := pos/nibbleWord + 1; w <= last; w++ {
			// The last word can contain the start of the next code, but only after ours.
			if w < last || (c.start+c.size-1)/nibbleBucket%nibbleWord == nibbleWord-1 {
				words[w] = uint32(c.start)&^0x1f | uint32(c.start%nibbleBucket/nibbleAlign) + nibbleMax + 1
				if c.start&0x10 != 0 {
					words[w] = uint32(c.start)&^0xf | uint32(c.start%16/nibbleAlign) + nibbleMax + 1
				}
			}
		}
	}
	b := make([]byte, 0, 4*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func TestNibbleMap(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, pointers := range []bool{false, true} {
		for range 50 {
			const heap = 1 << 14
			var codes []code
			for at := uint64(64); ; {
				c := code{at, uint64(r.Intn(900) + 8)}
				if c.start+c.size > heap {
					break
				}
				codes = append(codes, c)
				at = (c.start + c.size + 8 + 31) &^ 31 // one start in a bucket, after a header
				at += uint64(r.Intn(8)) * nibbleAlign
			}
			m := nibbleMap{mem: layout.BytesMemory(makeNibbleMap(codes, heap, false))}
			for _, c := range codes {
				for _, at := range []uint64{c.start, c.start + c.size/2, c.start + c.size - 1} {
					got, ok, err := m.start(at)
					require.NoError(t, err)
					require.True(t, ok, "%#x", at)
					require.Equal(t, c.start, got, "pointers %v, %#x", pointers, at)
				}
			}
			var starts []uint64
			for s, err := range m.starts(heap) {
				require.NoError(t, err)
				starts = append(starts, s)
			}
			want := make([]uint64, len(codes))
			for i, c := range codes {
				want[i] = c.start
			}
			assert.True(t, slices.Equal(want, starts))
			_, ok, err := m.start(10) // before all code
			assert.NoError(t, err)
			assert.False(t, ok)
		}
	}
}

// TestNibbleMapPointers checks that a word with a last nibble above 8 points to the start for its buckets.
func TestNibbleMapPointers(t *testing.T) {
	words := []uint32{0x01000000, 0x20 | 9, 0x20 | 9, 0, 0x10000000} // code at 0x20, 800 bytes long; code at 0x400
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	m := nibbleMap{mem: layout.BytesMemory(b), pointers: true}
	for _, c := range []struct {
		at, want uint64
		ok       bool
	}{{0x20, 0x20, true}, {0x3f, 0x20, true}, {0x100, 0x20, true}, {0x2ff, 0x20, true}, {0x300, 0x20, true}, {0x400, 0x400, true}, {0x1f, 0, false}} {
		got, ok, err := m.start(c.at)
		assert.NoError(t, err)
		assert.Equal(t, c.ok, ok, "%#x", c.at)
		assert.Equal(t, c.want, got, "%#x", c.at)
	}
	var starts []uint64
	for s := range m.starts(5 * nibbleWord * nibbleBucket) {
		starts = append(starts, s)
	}
	assert.Equal(t, []uint64{0x20, 0x400}, starts, "pointers are no starts")
}

// TestNibbleMapMissing checks that the last known start counts in a map with missing parts: its length decides,
// as a missing start may be nearer.
func TestNibbleMapMissing(t *testing.T) {
	m := nibbleMap{mem: holes{layout.BytesMemory(makeNibbleMap([]code{{0x40, 5000}}, 1<<14, false)), 4, 60}}
	got, ok, err := m.start(0x40 + 4000)
	assert.ErrorIs(t, err, target.ErrNotInDump)
	assert.True(t, ok)
	assert.Equal(t, uint64(0x40), got)
	m.mem = holes{m.mem, 0, 60}
	_, ok, err = m.start(0x40 + 4000)
	assert.ErrorIs(t, err, target.ErrNotInDump)
	assert.False(t, ok)
}

// TestCodeBehindMissingMap checks that code after a missing part of the map is missing, rather than not code,
// and that the code before it is found.
func TestCodeBehindMissingMap(t *testing.T) {
	for _, name := range []string{"net31-zoo", "net8-zoo", "net10-zoo"} {
		var hole holes
		rt := openCanned(t, name, func(m target.Memory) target.Memory { hole.Memory = m; return &hole }, nil)
		r := CodeOf(rt)
		c, err := r.members()
		require.NoError(t, err)
		var s *RangeSection
		var starts []target.Addr
		for info, err := range r.JITCode() {
			if err != nil || info.Kind != CodeJIT || info.Size == 0 {
				continue
			}
			if s == nil {
				s, err = r.rangeSection(c, info.Start)
				require.NoError(t, err)
			}
			if s.heap.code.Contains(info.Start) {
				starts = append(starts, info.Start)
			}
		}
		require.Greater(t, len(starts), 10, name)
		first, last := starts[0], starts[len(starts)-1]
		codeMap := s.heap.nib.at
		word := func(a target.Addr) target.Addr { return codeMap + 4*(a-s.heap.base)/(nibbleBucket*nibbleWord) }
		hole.start, hole.end = word(first)&^3+4, word(last)&^3+4
		require.Less(t, hole.start, hole.end)
		info, err := r.MethodAt(first)
		require.NoError(t, err, name)
		assert.Equal(t, first, info.Start)
		_, err = r.MethodAt(last)
		assert.ErrorIs(t, err, target.ErrNotInDump, name)
	}
}

// TestNibbleMapHoles checks that starts after a missing part are found, even in a heap of more than 16 MB.
func TestNibbleMapHoles(t *testing.T) {
	const far = 20 << 20
	m := nibbleMap{mem: stored{holes{layout.BytesMemory(makeNibbleMap([]code{{0x40, 100}, {far, 100}}, far+1<<14, false)), 0, 60}}}
	var got []uint64
	failed := 0
	for s, err := range m.starts(far + 1<<14) {
		if err != nil {
			failed++
			require.ErrorIs(t, err, target.ErrNotInDump)
			continue
		}
		got = append(got, s)
	}
	assert.Equal(t, 1, failed, "one hole is one error")
	assert.Equal(t, []uint64{far}, got)
}

// stored is memory that reports the end of its hole.
type stored struct{ holes }

func (s stored) NextStored(a target.Addr) (target.Addr, bool) { return max(a, s.end), true }

// holes is a memory without the bytes from start to end.
type holes struct {
	target.Memory
	start, end target.Addr
}

func (h holes) View(a target.Addr, n int) ([]byte, bool) {
	if a < h.end && a+target.Addr(n) > h.start {
		return nil, false
	}
	return h.Memory.View(a, n)
}

func (h holes) ReadMemory(p []byte, a target.Addr) (int, error) {
	if a < h.end && a+target.Addr(len(p)) > h.start {
		n := 0
		if a < h.start {
			n = copy(p[:h.start-a], p)
		}
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return h.Memory.ReadMemory(p, a)
}

func (h holes) Span(a target.Addr) []byte { return nil }

func FuzzNibbleMap(f *testing.F) {
	f.Add(makeNibbleMap([]code{{64, 100}, {256, 3000}}, 1<<12, false), uint64(1000), false)
	f.Add([]byte{0x09, 0, 0, 0, 0x29, 0, 0, 0}, uint64(300), true)
	f.Fuzz(func(t *testing.T, b []byte, delta uint64, pointers bool) {
		m := nibbleMap{mem: layout.BytesMemory(b), pointers: pointers}
		_, _, _ = m.start(delta)
		n := 0
		for range m.starts(uint64(len(b)) * 64) {
			if n++; n > len(b)*2+1 {
				t.Fatal("more starts than nibbles")
			}
		}
	})
}
