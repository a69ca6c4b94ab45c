package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTakes names methods as IL calls have them.
func TestTakes(t *testing.T) {
	for method, want := range map[string]bool{
		"BlockingCollection.Take":                   true,
		"BlockingCollection`1.TryTake":              true,
		"BlockingCollection.GetConsumingEnumerable": true,
		"BlockingCollection.Add":                    false,
		"BlockingCollection.TakeFromAny":            false, // of several collections
		"ConcurrentBag.TryTake":                     false,
		"Take":                                      false,
	} {
		assert.Equal(t, want, takes(method), method)
	}
}

// TestLoopsAround gives the loops around each part of for (…) { while (…) { } } and of what follows.
func TestLoopsAround(t *testing.T) {
	il := []byte{0x00, 0x00, 0x00, 0x06, 0x2D, 0xFC, 0x00, 0x2B, 0xF8, 0x2B, 0x00, 0x2A} // nop; 1: nop; 2: nop, ldloc.0, brtrue 2; nop; br 1; br 11; ret
	for at, want := range map[int]map[int]int{0: {}, 1: {1: 9}, 3: {1: 9, 2: 6}, 6: {1: 9}, 9: {}, 11: {}} {
		got, err := loopsAround(il, at)
		require.NoError(t, err)
		assert.Equal(t, want, got, at)
	}
	_, err := loopsAround([]byte{0x2B}, 0)
	require.Error(t, err)
}

// TestWantsSemaphore names methods as IL calls have them.
func TestWantsSemaphore(t *testing.T) {
	for method, want := range map[string]bool{
		"SemaphoreSlim.Wait":             true,
		"SemaphoreSlim.WaitAsync":        true,
		"SemaphoreSlim.Release":          true,
		"SemaphoreSlim..ctor":            false, // who makes one has not entered it
		"SemaphoreSlim.get_CurrentCount": false,
		"SemaphoreSlim.Dispose":          false,
		"Semaphore.Release":              false,
	} {
		assert.Equal(t, want, wantsSemaphore(method), method)
	}
}
