package ondumps_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestTypesBesideFrozenObjects checks that types between a frozen segment and the regions count as types after
// damage.
func TestTypesBesideFrozenObjects(t *testing.T) {
	d := testdump.Open(t, "win-net10-zoo")
	sound, err := d.Heap()
	require.NoError(t, err)
	want, err := sound.Stats(t.Context(), nil, heap.ScanOptions{})
	require.NoError(t, err)
	for i := range sound.Segments() {
		s := &sound.Segments()[i]
		var victim heap.Object
		n := 0
		for o, err := range sound.ObjectsIn(s, s.Objects) {
			if err == nil && !o.Free {
				if n++; n == 3 {
					victim = o
				}
			}
		}
		if n < 20 {
			continue
		}
		h, err := d.Damaged(t, testdump.Words(victim.Addr, 0)).Heap()
		require.NoError(t, err)
		got, err := h.Stats(t.Context(), nil, heap.ScanOptions{Jobs: 1})
		require.NoError(t, err)
		require.Equal(t, 1, got.Corrupt)
		require.GreaterOrEqual(t, got.Count, want.Count-2, "what is lost in segment %v", s.Addr)
	}
}

// TestDamagedSegments damages the record of a segment. The other segments must be walked, the loss must be
// reported, and only memory in the dump may be walked or counted.
func TestDamagedSegments(t *testing.T) {
	for _, name := range []string{"net10-crash-nested", "net31-zoo"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := testdump.Open(t, name)
			sound, err := d.Heap()
			require.NoError(t, err)
			want, err := sound.Stats(t.Context(), nil, heap.ScanOptions{})
			require.NoError(t, err)
			s := largest(sound)
			var memory uint64 // memory of the process
			for r := range d.Target().Regions() {
				memory += r.Size
			}
			lost, err := sound.Stats(t.Context(), &heap.Filter{Segments: func(x *heap.Segment) bool { return x.Addr == s.Addr }}, heap.ScanOptions{})
			require.NoError(t, err)
			var list []testdump.Damage
			for off := target.Addr(0); off < 0x50; off += 8 {
				for _, v := range []uint64{0, 0x3fffffffffff0000, uint64(s.Addr), uint64(s.Objects.End) + 0x100000} {
					list = append(list, testdump.Words(s.Addr+off, v))
				}
			}
			for off := target.Addr(0); off < 0x40; off += 16 {
				list = append(list, testdump.Words(s.Addr+off, make([]uint64, 10)...))
				list = append(list, testdump.Words(s.Addr+off, 0x3fffffffffff0000, 0x3fffffffffff0000, 0x3fffffffffff0000))
			}
			for _, w := range list {
				h, err := d.Damaged(t, w).Heap()
				require.NoError(t, err)
				start := time.Now()
				got, err := h.Stats(t.Context(), nil, heap.ScanOptions{})
				require.NoError(t, err)
				require.Less(t, time.Since(start), 10*time.Second)
				require.LessOrEqual(t, got.Count, want.Count)
				require.GreaterOrEqual(t, got.Count, want.Count-lost.Count, "%v: %x", w.At, w.Bytes)
				if got.Count < want.Count {
					require.NotEmpty(t, append(h.Warnings(), corruptions(&got)...), "%v: %x", w.At, w.Bytes)
				}
				require.LessOrEqual(t, h.Overview(nil).Allocated, memory)
			}
		})
	}
}

func largest(h *heap.Heap) *heap.Segment {
	all := h.Segments()
	best := &all[0]
	for i := range all {
		if all[i].Objects.Size() > best.Objects.Size() && all[i].Kind != heap.KindLarge {
			best = &all[i]
		}
	}
	return best
}

func corruptions(s *heap.Stats) (list []error) {
	for _, c := range s.Corruptions {
		list = append(list, c)
	}
	return list
}
