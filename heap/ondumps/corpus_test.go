package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// corpus calls f for each case of the corpus with a heap. f returns the number of comparisons.
func corpus(t *testing.T, f func(t *testing.T, d *testdump.Dump) int) {
	testdump.Corpus(t, (*testcase.Case).HasHeap, f)
}

func hex(v any) target.Addr { return testdump.Address(v) }

// TestObjects compares the walk with every object of the oracle.
func TestObjects(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		type object struct {
			mt   target.Addr
			size uint64
			free bool
		}
		got := map[target.Addr]object{}
		for o, err := range h.Objects() {
			require.NoError(t, err)
			got[o.Addr] = object{o.Type.Addr, o.Size, o.Free}
		}
		bad := 0
		d.Oracle(t, "objects", func(m map[string]any) {
			if total, ok := m["total"].(float64); ok && int(total) != len(got) {
				t.Errorf("%v objects, got %d", total, len(got))
			}
			if m["address"] == nil {
				return
			}
			a := hex(m["address"])
			want := object{hex(m["mt"]), uint64(m["size"].(float64)), m["free"].(bool)}
			if got[a] != want {
				if bad++; bad < 5 {
					t.Errorf("object %x: want %+v, got %+v", uint64(a), want, got[a])
				}
			}
			if s := h.Segment(a); s == nil {
				t.Errorf("object %x is in no segment", uint64(a))
			}
		})
		t.Logf("%d objects", len(got))
		return len(got)
	})
}

// TestSegments compares segments with the oracle.
func TestSegments(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		require.Empty(t, h.Warnings())
		n := 0
		d.Oracle(t, "segments", func(m map[string]any) {
			if m["kind"] == nil {
				return
			}
			n++
			objects, committed, reserved := m["objects"].([]any), m["committed"].([]any), m["reserved"].([]any)
			for _, s := range h.Segments() {
				if s.Addr != hex(m["address"]) {
					continue
				}
				require.Equal(t, target.Range{Start: hex(objects[0]), End: hex(objects[1])}, s.Objects)
				require.Equal(t, target.Range{Start: hex(committed[0]), End: hex(committed[1])}, s.Committed)
				require.Equal(t, target.Range{Start: hex(reserved[0]), End: hex(reserved[1])}, s.Reserved)
				require.Equal(t, m["kind"], s.Kind.String())
				return
			}
			t.Errorf("segment %v is missing", m["address"])
		})
		require.Equal(t, n, len(h.Segments()))
		return n
	})
}

// TestStats compares counts and sizes by type with the oracle, with one worker and with several.
func TestStats(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		one, err := h.Stats(t.Context(), &heap.Filter{}, heap.ScanOptions{Jobs: 1})
		require.NoError(t, err)
		many, err := h.Stats(t.Context(), &heap.Filter{}, heap.ScanOptions{Jobs: 5})
		require.NoError(t, err)
		require.Equal(t, one, many)
		require.Zero(t, one.Corrupt)
		got := map[target.Addr]heap.TypeStats{}
		for _, s := range one.Types {
			got[s.Type.Addr] = s
		}
		d.Oracle(t, "heapstat", func(m map[string]any) {
			if m["mt"] == nil || hex(m["mt"]) == 0 {
				return
			}
			s := got[hex(m["mt"])]
			require.EqualValues(t, m["count"], s.Count, m["type"])
			require.EqualValues(t, m["size"], s.Size, m["type"])
		})
		return len(got)
	})
}

// TestSizes checks that objects and gaps of a generation add up to its segments.
func TestSizes(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		stats, err := h.Stats(t.Context(), nil, heap.ScanOptions{})
		require.NoError(t, err)
		sizes, err := h.Sizes(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		var live, free uint64
		for _, z := range sizes.Heaps {
			for _, g := range z.Generations {
				if g.Generation == answer.Ephemeral {
					continue // included in the others
				}
				live += g.Live
				free += g.Free
				if h.Regions() {
					require.LessOrEqual(t, g.Live+g.Free, g.Allocated)
				}
			}
		}
		require.Equal(t, stats.Size, live+free)
		list, err := h.SizeHistograms(t.Context(), heap.ScanOptions{})
		require.NoError(t, err)
		var n uint64
		for _, g := range list.Generations {
			for _, s := range g.Sizes {
				n += s.Count
			}
		}
		require.Equal(t, stats.Count, n)
		return len(list.Generations)
	})
}

// TestDATAS checks that only a server GC of .NET 10 records its mode; a fixed number of heaps switches it off.
func TestDATAS(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		mode, ok := h.DATAS()
		rt, err := d.Runtime()
		require.NoError(t, err)
		major, _, _ := strings.Cut(rt.Instance().Version(), ".")
		require.Equal(t, h.Server() && major == "10", ok)
		if ok && d.Name == "net10-zoo-servergc-withheap" {
			require.Zero(t, mode)
		}
		return 1
	})
}
