package dump

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAvailableMemory: the result is in bytes, while the kernel counts kB.
func TestAvailableMemory(t *testing.T) {
	n, ok := availableMemory()
	assert.True(t, ok)
	assert.Greater(t, n, int64(1<<20))
	assert.Zero(t, n%1024)
}
