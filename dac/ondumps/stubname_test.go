package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestNameOfStub checks that the name of a stub's missing method is an error and does not panic.
func TestNameOfStub(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	_, err = dac.CodeOf(rt).MethodName(nil, dac.MethodFull)
	assert.ErrorIs(t, err, target.ErrUnsupported)
}
