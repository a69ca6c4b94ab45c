package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/stackwalk"
	"github.com/sosgo/sosgo/target"
)

// TestWalkOfEveryThread: threads without managed code have only native frames, the first at their
// instruction pointer.
func TestWalkOfEveryThread(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	list, err := d.Threads()
	require.NoError(t, err)
	native := 0
	for i := range list {
		th := &list[i]
		if th.Managed != nil || th.OS == nil {
			continue
		}
		native++
		ip, ok := th.OS.Registers.IP()
		require.True(t, ok)
		first := true
		for f := range d.Default().Walk(t.Context(), th, stackwalk.WalkOptions{Native: true}) {
			assert.Equal(t, stackwalk.FrameNative, f.Kind)
			if first {
				assert.Equal(t, ip, f.IP)
			}
			first = false
		}
		assert.False(t, first)
	}
	assert.Positive(t, native)

	for f := range d.Default().Walk(t.Context(), &stackwalk.Thread{}, stackwalk.WalkOptions{}) {
		assert.ErrorIs(t, f.Err, target.ErrNotInDump)
	}
}
