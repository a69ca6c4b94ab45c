package objects_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/objects"
	"github.com/sosgo/sosgo/target"
)

// TestValueOf: a value in a register is its low bytes; the higher bytes are not part of it.
func TestValueOf(t *testing.T) {
	r := &objects.Reader{}
	for _, tt := range []struct {
		et   metadata.ElementType
		bits uint64
		want string
	}{
		{metadata.ElementI4, 0xdeadbeef_ffffffff, "-1"},
		{metadata.ElementU2, 0x1_0007, "7"},
		{metadata.ElementBoolean, 0x100, "false"},
		{metadata.ElementI8, 1 << 63, "-9223372036854775808"},
		{metadata.ElementClass, 0, "null"},
	} {
		assert.Equal(t, tt.want, r.ValueOf(tt.et, tt.bits, nil).Plain(10), "%v", tt.et)
	}
	assert.ErrorIs(t, r.ValueOf(metadata.ElementValueType, 1, nil).Err(), target.ErrUnsupported)
	assert.ErrorIs(t, r.ValueOf(metadata.ElementType(0xee), 1, nil).Err(), target.ErrUnsupported)
}
