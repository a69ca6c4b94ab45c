package waste_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/waste"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

const native = "../../../testdata/dumps/native/net10-malloc/net10-malloc.dmp.zst"

// TestPins compares free space with what the program printed. The program keeps every fifth of 100 arrays of 90,024
// bytes, pinned, and every fourth of 40 arrays of 3,024 bytes on the pinned heap, without handles.
func TestPins(t *testing.T) {
	d, err := sosgo.Open(native, sosgo.Options{NoLocalFiles: true})
	if os.IsNotExist(err) {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	v, err := d.View("")
	require.NoError(t, err)
	w, err := waste.Waste(context.Background(), v.Process, waste.Options{})
	require.NoError(t, err)
	assert.Empty(t, w.Noted())
	free := map[string]answer.FreeSpace{}
	for _, f := range w.Free {
		free[f.Generation] = f
		assert.InDelta(t, 100*float64(f.Free)/float64(f.Free+f.Objects), f.Share, 0.001)
	}
	large := free["large"]
	require.Len(t, large.Pins, 1)
	pin := large.Pins[0]
	assert.Equal(t, answer.FreePin{Handle: "Pinned", Type: answer.Text{S: "System.Byte[]"}, Handles: 20, Objects: 20, Size: 20 * 90_024, Example: pin.Example}, pin)
	assert.Equal(t, uint64(20*90_024), large.Objects)
	assert.GreaterOrEqual(t, large.Share, 79.0)
	h, err := v.Heap()
	require.NoError(t, err)
	o, err := h.ObjectAt(pin.Example)
	require.NoError(t, err)
	assert.EqualValues(t, 90_024, o.Size)

	pinned := free["pinned"]
	assert.Equal(t, uint64(9), pinned.Blocks)
	assert.Empty(t, pinned.Pins, "objects of the pinned heap need no handles")
}

// TestPinsBesideFreeBlocks checks each listed pin against its neighbors in the heap.
func TestPinsBesideFreeBlocks(t *testing.T) {
	found := 0
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		v, err := d.View("")
		require.NoError(t, err)
		h, err := v.Heap()
		if err != nil || h.Unread() != nil {
			return
		}
		w, err := waste.Waste(context.Background(), v.Process, waste.Options{})
		if err != nil {
			return // the dump has too little of the heap
		}
		before := map[target.Addr]bool{} // where free blocks end
		for o, err := range h.Objects() {
			if err == nil && o.Free {
				before[o.Next()] = true
			}
		}
		for _, f := range w.Free {
			for _, p := range f.Pins {
				found++
				o, err := h.ObjectAt(p.Example)
				require.NoError(t, err)
				next, err := h.ObjectAt(o.Next())
				assert.True(t, before[o.Addr] || err == nil && next.Free, "%v", o.Addr)
				assert.LessOrEqual(t, p.Objects, p.Handles)
			}
		}
	})
	assert.NotZero(t, found)
}
