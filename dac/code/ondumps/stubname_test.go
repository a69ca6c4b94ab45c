package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestNameOfStub: an instruction of a stub has no method, and asking for its name
// is no crash of sosgo.
func TestNameOfStub(t *testing.T) {
	rt, err := testdump.Open(t, "net10-zoo").Runtime()
	require.NoError(t, err)
	_, err = code.Of(rt).MethodName(nil, code.MethodFull)
	assert.ErrorIs(t, err, target.ErrUnsupported)
}
