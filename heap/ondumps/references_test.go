package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/heap"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestReferences compares the references of every object with the oracle: their number, and the sum of the
// MethodTables that they lead to.
func TestReferences(t *testing.T) {
	corpus(t, func(t *testing.T, d *testdump.Dump) int {
		h, err := d.Heap()
		require.NoError(t, err)
		byAddr := map[target.Addr]heap.Object{}
		for o, err := range h.Objects() {
			if err == nil {
				byAddr[o.Addr] = o
			}
		}
		good, bad := 0, 0
		d.Oracle(t, "objects", func(line map[string]any) {
			want, ok := line["refs"].(float64)
			o, have := byAddr[testdump.Address(line["address"])]
			if !ok || !have || o.Free {
				return
			}
			n, sum := 0, uint64(0)
			for ref, err := range h.References(o) {
				if err != nil {
					t.Errorf("%v: %v", o.Addr, err)
					return
				}
				if ref.Slot == 0 {
					continue // the oracle counts stored references
				}
				n++
				mt, err := h.Runtime().ObjectMethodTable(ref.Target)
				require.NoError(t, err)
				sum += uint64(mt)
			}
			if n == int(want) && sum == uint64(testdump.Address(line["refsSum"])) {
				good++
				return
			}
			if bad++; bad < 5 {
				t.Errorf("%v %v: %d references of sum %#x, want %v %v", o.Addr, line["type"], n, sum, want, line["refsSum"])
			}
		})
		t.Logf("%d objects agree, %d don't", good, bad)
		return good
	})
}
