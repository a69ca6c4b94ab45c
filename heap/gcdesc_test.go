package heap

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// gcMemory is a memory of one range.
type gcMemory struct {
	base target.Addr
	b    []byte
}

func (m gcMemory) Span(a target.Addr) []byte {
	if a < m.base || uint64(a-m.base) >= uint64(len(m.b)) {
		return nil
	}
	return m.b[a-m.base:]
}

func (m gcMemory) View(a target.Addr, n int) ([]byte, bool) {
	s := m.Span(a)
	if len(s) < n {
		return nil, false
	}
	return s[:n], true
}

func (m gcMemory) ReadMemory(p []byte, a target.Addr) (int, error) {
	n := copy(p, m.Span(a))
	if n < len(p) {
		return n, &target.MemoryError{Addr: a + target.Addr(n), Size: len(p) - n, Err: target.ErrNotInDump}
	}
	return n, nil
}

const (
	gcMT           = 0x10000
	flagContainsGC = 0x01000000
)

// gcDescMemory returns memory with words that end at the MethodTable.
func gcDescMemory(words ...uint64) gcMemory {
	m := gcMemory{base: target.Addr(gcMT - 8*len(words))}
	for _, w := range words {
		m.b = binary.LittleEndian.AppendUint64(m.b, w)
	}
	return m
}

func minus(n uint64) uint64 { return -n }

func pattern(pointers, skip uint32) uint64 { return uint64(skip)<<32 | uint64(pointers) }

func TestGCDescSlots(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []uint64 // from the lowest address up
		size  uint64
		want  []uint64
	}{
		// An object of 32 bytes: one run of two references at 8.
		{"one series", []uint64{minus(16), 8, 1}, 32, []uint64{8, 16}},
		// 48 bytes with references at 8 and at 32; the lower offset is next to the count.
		{"two series", []uint64{minus(40), 32, minus(40), 8, 2}, 48, []uint64{8, 32}},
		// object[3]: 24 bytes and three elements at 16.
		{"array", []uint64{minus(24), 16, 1}, 48, []uint64{16, 24, 32}},
		{"empty array", []uint64{minus(24), 16, 1}, 24, nil},
		// Structs of a reference and two numbers.
		{"structs", []uint64{pattern(1, 16), 16, minus(1)}, 24 + 48, []uint64{16, 40}},
		// Structs of reference, number, reference, reference, number.
		{"structs of two runs", []uint64{pattern(2, 8), pattern(1, 8), 16, minus(2)}, 24 + 80, []uint64{16, 32, 40, 56, 72, 80}},
		{"no structs", []uint64{pattern(1, 16), 16, minus(1)}, 24, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := ReadGCDesc(gcDescMemory(c.words...), &dac.MethodTable{Addr: gcMT, Flags: flagContainsGC})
			require.NoError(t, err)
			var got []uint64
			d.Slots(c.size, func(off uint64) bool { got = append(got, off); return true })
			assert.Equal(t, c.want, got)
			assert.False(t, d.Empty())
			n := 0
			d.Slots(c.size, func(uint64) bool { n++; return false })
			assert.Equal(t, min(1, len(c.want)), n, "stops")
		})
	}
}

// TestGCDescBounded checks that a wrong GCDesc yields each slot of an object at most once and in order, however
// many series cover it.
func TestGCDescBounded(t *testing.T) {
	const size = 4 << 20
	overlapping := []uint64{}
	for range 1000 { // each goes on to the end of the object
		for off := uint64(8); off <= 8*60; off += 8 {
			overlapping = append(overlapping, 0, off)
		}
	}
	overlapping = append(overlapping, uint64(len(overlapping)/2))
	empty := make([]uint64, 60000)
	empty[0] = pattern(1, 0)
	for _, words := range [][]uint64{overlapping, append(empty, 16, minus(60000))} {
		m := gcDescMemory(words...)
		m.base = 1<<20 - target.Addr(8*len(words))
		d, err := ReadGCDesc(m, &dac.MethodTable{Addr: 1 << 20, Flags: flagContainsGC})
		require.NoError(t, err)
		n, last, steps := uint64(0), uint64(0), len(d.series)+len(d.repeat)
		assert.LessOrEqual(t, steps, 60)
		d.Slots(size, func(off uint64) bool {
			if off <= last { // require takes long, and there are many
				require.Greater(t, off, last)
			}
			n, last = n+1, off
			return true
		})
		assert.Equal(t, n, d.count(size, 0, size))
		assert.LessOrEqual(t, n, uint64(size/8))
		full := bytes.Repeat([]byte{1}, size)
		assert.EqualValues(t, n, len(d.append(nil, full, size, 0)))
		for _, at := range []uint64{8, 24, 4096, size - 64} {
			assert.EqualValues(t, d.count(size, at, size), len(d.append(nil, full, size, at)))
			rest := 0
			d.slotsFrom(size, at, func(uint64) bool { rest++; return true })
			assert.EqualValues(t, rest, d.count(size, at, size))
		}
	}
}

func TestGCDescNone(t *testing.T) {
	d, err := ReadGCDesc(gcMemory{}, &dac.MethodTable{Addr: gcMT})
	require.NoError(t, err)
	assert.True(t, d.Empty())
}

func TestGCDescLies(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []uint64
		want  error
	}{
		{"no series", []uint64{0}, target.ErrCorrupt},
		{"too many series", []uint64{1 << 40}, target.ErrCorrupt},
		{"too many runs", []uint64{minus(1 << 40)}, target.ErrCorrupt},
		{"series outside the dump", []uint64{1000}, target.ErrNotInDump},
		{"series before the object", []uint64{minus(16), 0, 1}, target.ErrCorrupt},
		{"series that is not aligned", []uint64{minus(16), 12, 1}, target.ErrCorrupt},
		{"series far away", []uint64{minus(16), 1 << 40, 1}, target.ErrCorrupt},
		{"empty pattern", []uint64{pattern(0, 0), 16, minus(1)}, target.ErrCorrupt},
		{"crooked pattern", []uint64{pattern(1, 3), 16, minus(1)}, target.ErrCorrupt},
		{"nothing", nil, target.ErrNotInDump},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadGCDesc(gcDescMemory(c.words...), &dac.MethodTable{Addr: gcMT, Flags: flagContainsGC})
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func FuzzGCDesc(f *testing.F) {
	f.Add(gcDescMemory(minus(40), 32, minus(40), 8, 2).b, uint64(48))
	f.Add(gcDescMemory(pattern(2, 8), pattern(1, 8), 16, minus(2)).b, uint64(104))
	f.Fuzz(func(t *testing.T, b []byte, size uint64) {
		size %= 1 << 20
		m := gcMemory{base: target.Addr(gcMT - len(b)), b: b}
		if len(b) > gcMT {
			return
		}
		d, err := ReadGCDesc(m, &dac.MethodTable{Addr: gcMT, Flags: flagContainsGC})
		if err != nil || size < minObjectSize {
			return
		}
		n := 0
		d.Slots(size, func(off uint64) bool {
			if off < 8 || off >= size+8 || off%8 != 0 {
				t.Fatalf("slot at %#x of %#x bytes", off, size)
			}
			n++
			return true
		})
		full := bytes.Repeat([]byte{1}, int(size+7)&^7)
		if refs := d.append(nil, full, size, 0); len(refs) != n || d.count(size, 0, (size+7)&^7) != uint64(n) {
			t.Fatalf("%d slots, %d references, %d counted", n, len(refs), d.count(size, 0, (size+7)&^7))
		}
	})
}

func BenchmarkGCDescSlots(b *testing.B) {
	d, err := ReadGCDesc(gcDescMemory(minus(24), 16, 1), &dac.MethodTable{Addr: gcMT, Flags: flagContainsGC})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		d.Slots(24+8*1000, func(uint64) bool { n++; return true })
	}
}
