package objects_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestArrayBeyondItsSegment: an array with an overwritten length lists the elements that fit in its segment, and an
// error.
func TestArrayBeyondItsSegment(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	facts := d.Manifest.Objects()
	r, p := openPatched(t, d.Name)
	for _, f := range facts {
		if f.Name != "root.Arrays.Ints" {
			continue
		}
		h, err := d.Heap()
		require.NoError(t, err)
		s := h.Segment(f.Addr)
		require.NotNil(t, s)
		p.Set(testdump.Damage{At: f.Addr + 8, Bytes: binary.LittleEndian.AppendUint32(nil, 0x7ffffff0)})
		a, err := r.DescribeArray(t.Context(), f.Addr, objects.ArrayOptions{})
		require.NoError(t, err)
		n, corrupt := 0, 0
		for e, err := range a.Elements {
			if err != nil {
				if assert.ErrorIs(t, err, target.ErrCorrupt) {
					corrupt++
				}
				continue
			}
			assert.Less(t, e.Address, s.Objects.End)
			n++
		}
		assert.Equal(t, 1, corrupt)
		assert.Greater(t, n, 0)
		return
	}
	t.Fatal("there is no such array")
}
