package answer

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHeapObjectJSON holds the quick way against encoding/json.
func TestHeapObjectJSON(t *testing.T) {
	for _, o := range []HeapObject{{}, {Address: 0x7f0012345678, MethodTable: 0xabc, Size: 24}, {Address: 1, Size: 1 << 40, Free: true}} {
		want, err := json.Marshal(o)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(o.AppendJSON(nil)))
	}
}
