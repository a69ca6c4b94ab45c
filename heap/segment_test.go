package heap

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/target"
)

// TestCheckDisjoint checks that of two overlapping segments the one that does not start with an object is
// dropped. If both start with one, the lower one ends at the other.
func TestCheckDisjoint(t *testing.T) {
	type at struct{ start, end int } // indexes of objects, or one more and in the middle of it
	for name, test := range map[string]struct {
		in, want []at
		warnings int
	}{
		"disjoint":                      {[]at{{0, 4}, {4, 8}}, []at{{0, 4}, {4, 8}}, 0},
		"the upper one is none":         {[]at{{0, 6}, {103, 8}}, []at{{0, 6}}, 1},
		"the lower one is none":         {[]at{{100, 8}, {2, 8}}, []at{{2, 8}}, 1},
		"both are":                      {[]at{{0, 6}, {4, 8}}, []at{{0, 4}, {4, 8}}, 1},
		"an empty one inside another":   {[]at{{0, 8}, {4, 4}}, []at{{0, 8}}, 1},
		"two that start at one address": {[]at{{0, 4}, {0, 8}}, []at{{0, 8}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := &builder{}
			for range 8 {
				b.bytes(64)
			}
			b.small()
			h := b.heap(true, nil)
			segments := func(list []at) (out []target.Range) {
				for _, r := range list {
					start := b.objs[r.start%100]
					if r.start >= 100 {
						start += 16
					}
					out = append(out, target.Range{Start: start, End: b.objs[r.end]})
				}
				return out
			}
			h.segments = nil
			for i, r := range segments(test.in) {
				h.segments = append(h.segments, Segment{Addr: target.Addr(i), Objects: r, Committed: r})
			}
			h.checkDisjoint()
			var got []target.Range
			for _, s := range h.segments {
				got = append(got, s.Objects)
				assert.Equal(t, s.Objects, s.Committed)
			}
			assert.Equal(t, segments(test.want), got)
			require.Len(t, h.warnings, test.warnings)
			for _, w := range h.warnings {
				assert.ErrorIs(t, w, target.ErrCorrupt)
			}
		})
	}
}

// TestHugeSegment checks that a segment larger than the dump costs one run of a scan.
func TestHugeSegment(t *testing.T) {
	b := &builder{}
	for range 100 {
		b.small()
	}
	h := b.heap(true, nil)
	h.segments[0].Objects.End = maxAddress
	for _, jobs := range []int{1, 4} {
		s, err := h.Stats(t.Context(), nil, ScanOptions{Jobs: jobs, runSize: 64})
		require.NoError(t, err)
		assert.EqualValues(t, 100, s.Count)
		assert.Equal(t, 1, s.Corrupt)
	}
}

// fuzzLayout is the order of members that FuzzReadSegment reads.
var fuzzLayout = segmentLayout{Allocated: 0, Committed: 8, Reserved: 16, Mem: 24, Flags: 32, Next: 40}

// TestRegionEntered: a thread that stops while the allocator goes on to the next region leaves the end of the one before as the end of all objects. That is the end of no
// object in the new region, and no damage. An end that is nowhere is.
func TestRegionEntered(t *testing.T) {
	b := &builder{}
	for range 20 {
		b.small()
	}
	const at, middle = synthCode + 0x800, synthHeap + 10*minObjectSize
	start, end := uint64(middle), uint64(b.at())
	for name, test := range map[string]struct {
		regions bool
		last    target.Addr
		want    target.Addr // 0: damage
	}{
		"the region before is full": {true, middle - 8, middle},
		"nowhere":                   {true, middle - 16, 0},
		"no regions":                {false, middle - 8, 0},
		"in the region":             {true, middle + 24, middle + 24},
	} {
		t.Run(name, func(t *testing.T) {
			h := b.heap(true, nil)
			h.claims = target.NewClaims(target.ArchAMD64, []target.Range{{Start: synthHeap, End: b.at()}}, true)
			h.regions = test.regions
			h.segments = []Segment{{Objects: target.Range{Start: synthHeap, End: middle - 8}, Kind: KindGeneration0}}
			var words []byte
			for _, w := range []uint64{start, end, end, start, 0, 0} {
				words = binary.LittleEndian.AppendUint64(words, w)
			}
			m := h.mem.(*fakeMemory)
			m.pieces = append([]fakePiece{{at, words}}, m.pieces...)
			sub := SubHeap{Generations: make([]GenerationData, 5), AllocAllocated: test.last, EphemeralSegment: at}
			s, _, err := h.readSegment(&fuzzLayout, &sub, at, 0)
			if test.want == 0 {
				require.ErrorIs(t, err, target.ErrCorrupt)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, target.Range{Start: middle, End: test.want}, s.Objects)
		})
	}
}

// FuzzReadSegment reads arbitrary records. A resulting segment must be in memory of the process, with its parts
// in order, and a walk of it must end.
func FuzzReadSegment(f *testing.F) {
	b := &builder{}
	for range 20 {
		b.small()
		b.bytes(40)
	}
	record := func(words ...uint64) (out []byte) {
		for _, w := range words {
			out = binary.LittleEndian.AppendUint64(out, w)
		}
		return out
	}
	start, end := uint64(synthHeap), uint64(b.at())
	f.Add(record(end, end, end+0x1000, start, 0, 0), uint8(2), start, start)
	f.Add(record(end, end, end+0x1000, start, 1, 0), uint8(0), start, start)
	f.Add(record(0x3fffffffffff0000, 0x3fffffffffff0000, 0x3fffffffffff0000, start, 0, 0), uint8(3), start, start+64)
	f.Add(record(0, 0, 0, 0, 0, 0), uint8(4), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, words []byte, gen uint8, gen0, gen1 uint64) {
		if len(words) < 48 {
			return
		}
		h := b.heap(true, nil)
		h.claims = target.NewClaims(target.ArchAMD64, []target.Range{{Start: synthHeap, End: b.at()}}, true)
		h.regions = gen%2 == 0
		const at = synthCode + 0x800
		m := h.mem.(*fakeMemory)
		m.pieces = append([]fakePiece{{at, words[:48]}}, m.pieces...)
		sub := SubHeap{Generations: make([]GenerationData, 5), AllocAllocated: target.Addr(binary.LittleEndian.Uint64(words))}
		sub.Generations[0].AllocationStart, sub.Generations[1].AllocationStart = target.Addr(gen0), target.Addr(gen1)
		if gen&8 != 0 {
			sub.EphemeralSegment = at
		}
		s, _, err := h.readSegment(&fuzzLayout, &sub, at, int(gen%5))
		if err != nil {
			return
		}
		require.LessOrEqual(t, s.Objects.Start, s.Objects.End)
		require.LessOrEqual(t, s.Objects.End, s.Committed.End)
		require.LessOrEqual(t, s.Committed.End, s.Reserved.End)
		require.GreaterOrEqual(t, s.Objects.Start, synthHeap)
		require.LessOrEqual(t, s.Committed.End, b.at())
		h.segments = []Segment{s}
		walkAll(t, h)
	})
}

// FuzzResync: a walk over any bytes ends, and finds objects in their order inside the segment.
func FuzzResync(f *testing.F) {
	b := &builder{}
	for range 12 {
		b.small()
		b.bytes(13)
		b.large()
	}
	f.Add(b.b, uint16(0), uint16(0))
	f.Add(b.b[8:], uint16(64), uint16(16))
	f.Add(make([]byte, 256), uint16(3), uint16(200))
	f.Fuzz(func(t *testing.T, bytes []byte, hole, size uint16) {
		if len(bytes) < headSize || len(bytes) > 1<<14 {
			return
		}
		bytes = bytes[:len(bytes)&^7]
		from := min(synthHeap+target.Addr(hole), synthHeap+target.Addr(len(bytes)))
		to := min(from+target.Addr(size), synthHeap+target.Addr(len(bytes)))
		h := (&builder{b: bytes}).heap(true, nil, target.Range{Start: from, End: to})
		walkAll(t, h)
	})
}

// walkAll walks a heap of one segment and counts its objects.
func walkAll(t *testing.T, h *Heap) (objects int) {
	at, s := h.segments[0].Objects.Start, h.segments[0].Objects
	for o, err := range h.Objects() {
		if err != nil {
			c := err.(*Corruption)
			require.GreaterOrEqual(t, c.Addr, at)
			require.Greater(t, c.Next, c.Addr)
			at = c.Next
			continue
		}
		objects++
		require.GreaterOrEqual(t, o.Addr, at)
		at = o.Next()
		require.LessOrEqual(t, at, s.End)
	}
	return objects
}
