package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestSyncBlockSince: the programs of the corpus have monitors that threads began to wait for within a second of each other.
func TestSyncBlockSince(t *testing.T) {
	corpus(t, func(t *testing.T, _ *testdump.Dump, rt *dac.Runtime) int {
		var stamps []uint32
		for b, err := range rt.SyncBlocks() {
			if err == nil && b.Waiters > 0 && b.Since.Bits == 32 {
				stamps = append(stamps, b.Since.Low)
			}
		}
		if len(stamps) == 0 {
			t.Skip("no thread waits for a monitor with a sync block of the runtime's own")
		}
		for _, s := range stamps {
			require.NotZero(t, s)
			assert.InDelta(t, stamps[0], s, 1000)
		}
		return len(stamps)
	})
}
