package memmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/leftout"
	"github.com/sosgo/sosgo/target"
)

// pattern returns n bytes in which neighbors differ.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// naive finds the file offset of the byte at a by searching the ranges in the dump's order.
func naive(ranges []Range, size int64, a target.Addr) (off int64, ok bool) {
	for _, r := range ranges {
		d := uint64(a - r.Addr)
		if d >= r.Size || a < r.Addr || r.Addr+target.Addr(r.Size-1) < r.Addr {
			continue
		}
		if r.Offset < 0 || r.Offset >= size || d >= uint64(size-r.Offset) {
			continue
		}
		return r.Offset + int64(d), true
	}
	return 0, false
}

// check compares the map of ranges with naive for n addresses from first on.
func check(t *testing.T, file []byte, ranges []Range, first target.Addr, n int) {
	t.Helper()
	input := bytes.Clone(file)
	lent, _ := New(target.BytesSource(input), append([]Range(nil), ranges...))
	copied, _ := New(target.ReaderAtSource(bytes.NewReader(input), int64(len(input))), append([]Range(nil), ranges...))
	for i := 1; i < len(lent.Ranges()); i++ {
		x, y := lent.Ranges()[i-1], lent.Ranges()[i]
		require.Less(t, x.last(), y.Addr, "ranges are sorted and disjoint: %v", lent.Ranges())
	}
	run := uint64(0) // bytes stored from a on; the loop visits addresses downwards
	for i := n - 1; i >= 0; i-- {
		a := first + target.Addr(i)
		off, ok := naive(ranges, int64(len(file)), a)
		if run++; !ok {
			run = 0
		}
		var want []byte
		if ok {
			want = file[off : off+1]
		}
		if wrong := wrongAt(lent, copied, a, want, run); wrong != "" {
			t.Fatalf("%s at address %#x of %v", wrong, uint64(a), ranges)
		}
	}
}

// wrongAt describes a difference between two maps and the expected bytes want at a, or returns "".
// run is the number of bytes stored from a on. It uses no assertion library, because it runs for
// each address of each input.
func wrongAt(lent, copied *Map, a target.Addr, want []byte, run uint64) string {
	b, ok := lent.View(a, 1)
	var one [1]byte
	_, err := copied.ReadMemory(one[:], a)
	s := lent.Span(a)
	stored := lent.Stored(a, math.MaxUint64)
	if len(want) == 0 {
		switch {
		case ok || s != nil || stored != 0:
			return "there are bytes"
		case !errors.Is(err, target.ErrNotInDump):
			return fmt.Sprintf("a read ends with %v", err)
		}
		return ""
	}
	switch {
	case !ok || b[0] != want[0]:
		return fmt.Sprintf("a view is %x, not %x", b, want)
	case err != nil || one[0] != want[0]:
		return fmt.Sprintf("a read gives %x, not %x, and %v", one, want, err)
	case stored < run || lent.Stored(a, min(run, 3)) != min(run, 3):
		return fmt.Sprintf("%d bytes are stored, not %d", stored, run)
	case len(s) == 0 || uint64(len(s)) > stored:
		return fmt.Sprintf("%d bytes are lent of %d", len(s), stored)
	}
	return ""
}

func TestNewOverlaps(t *testing.T) {
	top := ^target.Addr(0)
	tests := []struct {
		name   string
		ranges []Range
		want   []Range
		warns  int
	}{
		{name: "none"},
		{name: "empty", ranges: []Range{{0x10, 0, 0}}},
		{name: "sorts", ranges: []Range{{0x20, 8, 0}, {0x10, 8, 8}}, want: []Range{{0x10, 8, 8}, {0x20, 8, 0}}},
		{name: "merges neighbours in memory and file", ranges: []Range{{0x10, 8, 0}, {0x18, 8, 8}}, want: []Range{{0x10, 16, 0}}},
		{name: "keeps neighbours in memory alone apart", ranges: []Range{{0x10, 8, 0}, {0x18, 8, 16}}, want: []Range{{0x10, 8, 0}, {0x18, 8, 16}}},
		{name: "first keeps its bytes", ranges: []Range{{0x10, 8, 0}, {0x14, 8, 32}}, want: []Range{{0x10, 8, 0}, {0x18, 4, 36}}, warns: 1},
		{name: "first in the dump, higher in memory", ranges: []Range{{0x14, 8, 32}, {0x10, 8, 0}}, want: []Range{{0x10, 4, 0}, {0x14, 8, 32}}, warns: 1},
		{name: "first cuts a hole", ranges: []Range{{0x14, 4, 32}, {0x10, 16, 0}}, want: []Range{{0x10, 4, 0}, {0x14, 4, 32}, {0x18, 8, 8}}, warns: 1},
		{name: "inner is lost", ranges: []Range{{0x10, 16, 0}, {0x14, 4, 32}}, want: []Range{{0x10, 16, 0}}, warns: 1},
		{name: "the same twice", ranges: []Range{{0x10, 16, 0}, {0x10, 16, 32}}, want: []Range{{0x10, 16, 0}}, warns: 1},
		{
			name:   "a tail goes to the third, not back to the second",
			ranges: []Range{{0x10, 4, 0}, {0x12, 12, 16}, {0x10, 32, 32}},
			want:   []Range{{0x10, 4, 0}, {0x14, 10, 18}, {0x1e, 18, 46}}, warns: 1,
		},
		{
			name:   "the first wins against two that meet in it",
			ranges: []Range{{0x14, 8, 0}, {0x10, 8, 16}, {0x18, 16, 32}},
			want:   []Range{{0x10, 4, 16}, {0x14, 8, 0}, {0x1c, 12, 36}}, warns: 1,
		},
		{
			name:   "nested three deep",
			ranges: []Range{{0x18, 2, 0}, {0x14, 8, 8}, {0x10, 16, 16}},
			want:   []Range{{0x10, 4, 16}, {0x14, 4, 8}, {0x18, 2, 0}, {0x1a, 2, 14}, {0x1c, 4, 28}}, warns: 1,
		},
		{name: "to the last address", ranges: []Range{{top - 7, 8, 0}}, want: []Range{{top - 7, 8, 0}}},
		{name: "overlap at the last address", ranges: []Range{{top - 3, 4, 0}, {top - 7, 8, 8}}, want: []Range{{top - 7, 4, 8}, {top - 3, 4, 0}}, warns: 1},
		{name: "around the end of the address space", ranges: []Range{{top - 7, 9, 0}}, warns: 1},
		{name: "past the end of the file", ranges: []Range{{0x10, 8, 64}}, warns: 1},
		{name: "tail past the end of the file", ranges: []Range{{0x10, 8, 60}}, want: []Range{{0x10, 4, 60}}, warns: 1},
		{name: "negative offset", ranges: []Range{{0x10, 8, -1}}, warns: 1},
		{name: "largest size", ranges: []Range{{0x10, math.MaxUint64 - 0x10, 8}}, want: []Range{{0x10, 56, 8}}, warns: 1},
	}
	file := pattern(64)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := append([]Range(nil), tt.ranges...)
			m, warnings := New(target.BytesSource(file), append([]Range(nil), tt.ranges...))
			assert.Equal(t, tt.want, append([]Range(nil), m.Ranges()...))
			assert.Len(t, warnings, tt.warns)
			for _, w := range warnings {
				assert.ErrorIs(t, w, target.ErrCorrupt)
			}
			check(t, file, input, 0, 0x80)
			check(t, file, input, top-0x1f, 0x20)
		})
	}
}

// nearTop is the first of the last 128 addresses.
const nearTop = ^target.Addr(0x7f)

// fuzzRanges decodes ranges from eight bytes of input each. Addresses are close to two places, so
// that ranges overlap.
func fuzzRanges(data []byte) []Range {
	var ranges []Range
	for ; len(data) >= 8 && len(ranges) < 64; data = data[8:] {
		r := Range{
			Addr:   target.Addr(binary.LittleEndian.Uint16(data)) & 0xff,
			Size:   uint64(data[2] & 0x7f),
			Offset: int64(int16(binary.LittleEndian.Uint16(data[4:]))) % 600,
		}
		if data[3]&1 != 0 {
			r.Addr = nearTop + r.Addr&0x7f
		}
		if data[3] == 0xfe {
			r.Size = -r.Size
		}
		ranges = append(ranges, r)
	}
	return ranges
}

func FuzzNew(f *testing.F) {
	f.Add([]byte{})
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := make([]byte, 8*(1+r.IntN(20)))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		f.Add(b)
	}
	file := pattern(512)
	f.Fuzz(func(t *testing.T, data []byte) {
		ranges := fuzzRanges(data)
		check(t, file, ranges, 0, 0x200)
		check(t, file, ranges, nearTop, 0x80)
	})
}

func TestNewRandom(t *testing.T) {
	file := pattern(512)
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		data := make([]byte, 8*(1+r.IntN(40)))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		check(t, file, fuzzRanges(data), 0, 0x200)
		check(t, file, fuzzRanges(data), nearTop, 0x80)
	}
}

// TestNewManyOverlaps checks the running time: each of these inputs is quadratic for an algorithm
// that compares neighbors only.
func TestNewManyOverlaps(t *testing.T) {
	const n = 100_000
	shapes := map[string]func(i int) Range{
		"nested, inner first": func(i int) Range {
			return Range{target.Addr(n - i), uint64(2*i + 1), 0}
		},
		"nested, outer first": func(i int) Range {
			return Range{target.Addr(i), uint64(2*(n-i) + 1), 0}
		},
		"one over all, last": func(i int) Range {
			if i == n-1 {
				return Range{0, 16 * n, 0}
			}
			return Range{target.Addr(16 * i), 8, int64(i)}
		},
		"staircase, first highest": func(i int) Range { return Range{target.Addr(16 * (n - i)), 8 * n, 0} },
		"all the same":             func(int) Range { return Range{0x1000, 64, 0} },
	}
	file := make([]byte, 16*n+16)
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			ranges := make([]Range, n)
			for i := range ranges {
				ranges[i] = shape(i)
			}
			start := time.Now()
			m, warnings := New(target.BytesSource(file), ranges)
			assert.Less(t, time.Since(start), 15*time.Second)
			assert.LessOrEqual(t, len(m.Ranges()), 2*n)
			assert.NotEmpty(t, warnings)
		})
	}
}

// split returns a map of ranges that are adjacent in memory but not in the file: bytes 0 to 7 at
// 0x1000, 32 to 39 at 0x1008, 16 to 23 at 0x1010.
func split(src target.Source) *Map {
	m, _ := New(src, []Range{{0x1008, 8, 32}, {0x1000, 8, 0}, {0x1010, 8, 16}})
	return m
}

func TestReadAcrossRanges(t *testing.T) {
	file := pattern(64)
	want := append(append(append([]byte(nil), file[:8]...), file[32:40]...), file[16:24]...)
	for name, src := range map[string]target.Source{"lent": target.BytesSource(file), "copied": target.ReaderAtSource(bytes.NewReader(file), 64)} {
		t.Run(name, func(t *testing.T) {
			m := split(src)
			p := make([]byte, 24)
			n, err := m.ReadMemory(p, 0x1000)
			require.NoError(t, err)
			assert.Equal(t, 24, n)
			assert.Equal(t, want, p)

			n, err = m.ReadMemory(make([]byte, 10), 0x100e)
			require.NoError(t, err)
			assert.Equal(t, 10, n)

			p = make([]byte, 16)
			n, err = m.ReadMemory(p, 0x1010)
			assert.Equal(t, 8, n)
			assert.Equal(t, file[16:24], p[:8])
			var me *target.MemoryError
			require.ErrorAs(t, err, &me)
			assert.Equal(t, target.MemoryError{Addr: 0x1018, Size: 8, Err: target.ErrNotInDump}, *me)

			assert.EqualValues(t, 20, m.Stored(0x1004, 100))
			_, err = m.ReadMemory(nil, 0x5000)
			assert.NoError(t, err, "nothing is always there")
		})
	}
}

func TestView(t *testing.T) {
	file := pattern(64)
	m := split(target.BytesSource(file))
	tests := []struct {
		a    target.Addr
		n    int
		want []byte
	}{
		{0x1000, 8, file[:8]},
		{0x1002, 6, file[2:8]},
		{0x1002, 7, nil},
		{0x1008, 8, file[32:40]},
		{0xfff, 2, nil},
		{0x1018, 1, nil},
		{0x1000, -1, nil},
		{0x1000, math.MaxInt, nil},
	}
	for _, tt := range tests {
		b, ok := m.View(tt.a, tt.n)
		assert.Equal(t, tt.want != nil, ok, "%#x+%d", uint64(tt.a), tt.n)
		assert.Equal(t, tt.want, b)
	}
	assert.Equal(t, file[34:40], m.Span(0x100a))
	assert.Nil(t, m.Span(0x1018))

	merged, _ := New(target.BytesSource(file), []Range{{0x1008, 8, 8}, {0x1000, 8, 0}})
	b, ok := merged.View(0x1004, 8)
	assert.True(t, ok, "a view crosses ranges that are neighbours in memory and file")
	assert.Equal(t, file[4:12], b)
	assert.Equal(t, 8, cap(b), "an append can't write into the dump")

	unlent := split(target.ReaderAtSource(bytes.NewReader(file), 64))
	_, ok = unlent.View(0x1000, 1)
	assert.False(t, ok)
	assert.Nil(t, unlent.Span(0x1000))
}

// brokenReader fails after its first n bytes.
type brokenReader struct {
	n   int64
	err error
}

func (r brokenReader) ReadAt(p []byte, off int64) (int, error) {
	n := min(max(r.n-off, 0), int64(len(p)))
	if int(n) < len(p) {
		return int(n), r.err
	}
	return int(n), nil
}

func TestReadErrorsOfTheHost(t *testing.T) {
	disk := errors.New("disk error")
	for _, tt := range []struct{ err, want error }{{disk, disk}, {io.EOF, io.ErrUnexpectedEOF}} {
		m, _ := New(target.ReaderAtSource(brokenReader{20, tt.err}, 64), []Range{{0x1000, 64, 0}})
		n, err := m.ReadMemory(make([]byte, 16), 0x1008)
		assert.Equal(t, 12, n)
		assert.ErrorIs(t, err, tt.want)
		assert.NotErrorIs(t, err, target.ErrNotInDump)
		var me *target.MemoryError
		require.ErrorAs(t, err, &me)
		assert.Equal(t, target.Addr(0x1014), me.Addr)
		assert.Equal(t, 4, me.Size)
	}
}

func benchmarkMap(b *testing.B, n int) *Map {
	file := make([]byte, n*64)
	ranges := make([]Range, n)
	for i := range ranges {
		// Gaps keep the ranges apart.
		ranges[i] = Range{0x7f0000000000 + target.Addr(i)*4096, 64, int64(i * 64)}
	}
	m, warnings := New(target.BytesSource(file), ranges)
	require.Empty(b, warnings)
	require.Len(b, m.Ranges(), n)
	return m
}

func BenchmarkView(b *testing.B) {
	const n = 16_000
	m := benchmarkMap(b, n)
	addrs := make([]target.Addr, 1<<12)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range addrs {
		addrs[i] = 0x7f0000000008 + target.Addr(r.IntN(n))*4096
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, ok := m.View(addrs[i&(len(addrs)-1)], 8); !ok {
			b.Fatal("not there")
		}
		i++
	}
}

func BenchmarkReadMemory(b *testing.B) {
	const n = 16_000
	m := benchmarkMap(b, n)
	var p [8]byte
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, err := m.ReadMemory(p[:], 0x7f0000000000+target.Addr(i*7919%n)*4096); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{16_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			src := target.BytesSource(make([]byte, n*64))
			for b.Loop() {
				ranges := make([]Range, n)
				for i := range ranges {
					ranges[i] = Range{target.Addr(i * 4096), 64, int64(i * 64)}
				}
				New(src, ranges)
			}
		})
	}
}

// TestLeaveOut compares all ways of reading a map with and without words left out, at every address
// and for lengths up to three words, for sources that lend and that copy.
func TestLeaveOut(t *testing.T) {
	mark := leftout.NewMark(0x1234567890)
	file := pattern(200)
	// The second ends, and the third begins, inside a word.
	ranges := []Range{{0x1000, 64, 4}, {0x1040, 21, 100}, {0x105c, 30, 130}}
	gone := map[target.Addr]bool{}
	put := func(a target.Addr, whole bool) {
		for i, c := range mark.Bytes() {
			if off, ok := naive(ranges, int64(len(file)), a+target.Addr(i)); ok {
				file[off] = c
			}
			gone[a+target.Addr(i)] = gone[a+target.Addr(i)] || whole
		}
	}
	put(0x1000, true)
	put(0x1018, true)
	put(0x1020, true)
	put(0x102c, false) // not aligned
	put(0x1050, false) // not stored completely
	put(0x1060, true)
	put(0x1070, true)
	for _, src := range []target.Source{target.BytesSource(file), target.ReaderAtSource(bytes.NewReader(file), int64(len(file)))} {
		m, warnings := New(src, slices.Clone(ranges))
		require.Empty(t, warnings)
		require.False(t, m.LeftOut())
		require.Zero(t, m.LeftOutBytes())
		m, warnings = NewShrunk(src, slices.Clone(ranges), &leftout.Note{Mark: mark})
		require.Empty(t, warnings)
		require.True(t, m.LeftOut())
		assert.EqualValues(t, 5*8, m.LeftOutBytes())
		has := func(a target.Addr) bool {
			_, ok := naive(ranges, int64(len(file)), a)
			return ok && !gone[a]
		}
		for a := target.Addr(0xff8); a < 0x1088; a++ {
			for n := 1; n <= 24; n++ {
				want := 0
				for want < n && has(a+target.Addr(want)) {
					want++
				}
				b := make([]byte, n)
				got, err := m.ReadMemory(b, a)
				require.Equal(t, want, got, "%v, %d bytes", a, n)
				for i := range got {
					off, _ := naive(ranges, int64(len(file)), a+target.Addr(i))
					require.Equal(t, file[off], b[i])
				}
				if want == n {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, target.ErrNotInDump)
					require.Equal(t, gone[a+target.Addr(want)], errors.Is(err, target.ErrLeftOut), "%v, %d bytes: %v", a, n, err)
				}
				if view, ok := m.View(a, n); ok {
					require.Equal(t, b, view)
					require.Equal(t, n, want)
				}
			}
			if s := m.Span(a); s != nil {
				require.True(t, has(a))
				require.True(t, len(s) == 0 || has(a+target.Addr(len(s)-1)))
			}
			next, ok := m.NextStored(a)
			want := a
			for want < 0x1100 && !has(want) {
				want++
			}
			require.Equal(t, want < 0x1100, ok, a)
			require.True(t, !ok || next == want, a)
		}
	}
}

// TestUnstored checks that runs of a shrunk dump are zeros, or left out, and never missing.
func TestUnstored(t *testing.T) {
	const page = leftout.Page
	file := pattern(2 * page)
	note := &leftout.Note{Mark: leftout.NewMark(7 << 32), Runs: []leftout.Run{{Addr: 0x11000, Size: 40 * page, Kind: leftout.Zeros},
		{Addr: 0x39000, Size: 30 * page}, {Addr: 0x60000, Size: 2 * page, Kind: leftout.InFile, Sums: []uint64{5, 6}}}}
	ranges := []Range{{0x10000, page, 0}, {0x57000, page, page}, {0x90000, page, 9 * page}}
	for _, src := range []target.Source{target.BytesSource(file), target.ReaderAtSource(bytes.NewReader(file), int64(len(file)))} {
		m, warnings := NewShrunk(src, slices.Clone(ranges), note)
		require.Len(t, warnings, 1, "only the range past the end of the file is cut")
		assert.EqualValues(t, page, m.Cut())
		assert.EqualValues(t, 30*page, m.LeftOutBytes())
		assert.EqualValues(t, 2*page, m.InFileBytes())
		assert.EqualValues(t, 72*page, m.Stored(0x10000, 1<<30))
		b := make([]byte, 50*page)
		n, err := m.ReadMemory(b, 0x10004)
		assert.Equal(t, 41*page-4, n)
		require.ErrorIs(t, err, target.ErrLeftOut)
		assert.Equal(t, file[4:page], b[:page-4])
		assert.Equal(t, make([]byte, 40*page), b[page-4:n])
		_, err = m.ReadMemory(b[:1], 0x57000-1)
		require.ErrorIs(t, err, target.ErrLeftOut)
		_, err = m.ReadMemory(b[:1], 0x58000)
		require.NotErrorIs(t, err, target.ErrLeftOut)
		next, ok := m.NextStored(0x39008)
		assert.True(t, ok)
		assert.EqualValues(t, 0x57000, next)
		lent, ok := m.View(0x11008, 16)
		assert.True(t, ok)
		assert.Equal(t, make([]byte, 16), lent)
		_, ok = m.View(0x39000, 8)
		assert.False(t, ok)
		assert.Empty(t, m.Span(0x39000))
		assert.NotEmpty(t, m.Span(0x11000))
		_, err = m.ReadMemory(b[:1], 0x61fff)
		require.ErrorIs(t, err, target.ErrInModuleFile)
		require.ErrorIs(t, err, target.ErrNotInDump)
		require.NotErrorIs(t, err, target.ErrLeftOut)
		for a, want := range map[target.Addr]uint64{0x60000: 5, 0x61000: 6, 0x62000: 0, 0x5f000: 0, 0x39000: 0} {
			sum, ok := m.PageSum(a)
			assert.Equal(t, want != 0, ok, "%v", a)
			assert.Equal(t, want, sum, "%v", a)
		}
	}
}
