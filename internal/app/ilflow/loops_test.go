package ilflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAround gives the loops around each part of for (…) { while (…) { } } and of what follows.
func TestAround(t *testing.T) {
	il := []byte{0x00, 0x00, 0x00, 0x06, 0x2D, 0xFC, 0x00, 0x2B, 0xF8, 0x2B, 0x00, 0x2A} // nop; 1: nop; 2: nop, ldloc.0, brtrue 2; nop; br 1; br 11; ret
	for at, want := range map[int]Loops{0: {}, 1: {1: 9}, 3: {1: 9, 2: 6}, 6: {1: 9}, 9: {}, 11: {}} {
		got, err := Around(il, at)
		require.NoError(t, err)
		assert.Equal(t, want, got, at)
	}
	_, err := Around([]byte{0x2B}, 0)
	require.Error(t, err)
}

// TestBehind checks that a loop counts if it begins behind the call that entered a semaphore, and that any counts in another method.
func TestBehind(t *testing.T) {
	il := []byte{0x00, 0x00, 0x00, 0x2d, 0xfc, 0x2b, 0xf9} // 0: nop, 1: nop, nop, brtrue.s 1, br.s 0
	for _, c := range []struct {
		at, entered int
		want        bool
	}{{2, 0, true}, {2, 1, false}, {5, 0, true}, {5, 1, false}, {2, 2, false}} {
		assert.Equal(t, c.want, Behind(il, c.at, c.entered), c)
	}
	assert.False(t, Behind([]byte{0x00, 0x2a}, 1, 0), "no loop")
	assert.True(t, Behind([]byte{0x28, 0x01}, 0, 1), "unreadable")
}
