package crash

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/target"
)

// TestRecordNumbers checks that numbers out of range are rejected, not truncated.
func TestRecordNumbers(t *testing.T) {
	for _, raw := range []string{`{"thread":"0x1ffffffff"}`, `{"reason":"0xffffffffffffffff"}`, `{"runtime_type":"0x8000000000000000"}`} {
		_, err := parseRecord([]byte(raw))
		assert.ErrorIs(t, err, target.ErrCorrupt, raw)
	}
	r, err := parseRecord([]byte(`{"thread":"0xffffffff","reason":"2"}`))
	assert.NoError(t, err)
	assert.EqualValues(t, uint32(0xffffffff), r.Thread)
}
