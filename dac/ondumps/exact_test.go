package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestInstanceOfExactType checks a static method with shared code of a generic type. For an exact type it has
// its own MethodDesc, in a chunk of that type and not of the canonical one. The delegates of
// Expression<T>.Create call such methods; SOS agrees.
func TestInstanceOfExactType(t *testing.T) {
	testdump.Corpus(t, testcase.Named("net31-stacks-withheap"), func(t *testing.T, d *testdump.Dump) int {
		rt, err := d.Runtimes()[0].Open()
		require.NoError(t, err)
		m, err := dac.CodeOf(rt).MethodDesc(0x7faac112ba58)
		require.NoError(t, err)
		assert.Equal(t, dac.MethodInstantiated, m.Kind)
		name, err := dac.CodeOf(rt).MethodName(m, dac.MethodQualified)
		require.NoError(t, err)
		assert.Equal(t, "System.Linq.Expressions.Expression<System.Action>.Create", name)
		return 1
	})
}
