package locks

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
