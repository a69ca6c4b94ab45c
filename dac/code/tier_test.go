package code_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/dac/code"
	"github.com/sosgo/sosgo/internal/testdump"
)

// TestTierBeforeCompiling: that a method has a loop is noticed by the compiler. Until it has looked, the method is one
// that will be compiled quickly.
func TestTierBeforeCompiling(t *testing.T) {
	d := testdump.Open(t, "net31-zoo")
	rt, err := d.Runtime()
	require.NoError(t, err)
	modules, err := rt.KnownModules()
	require.NoError(t, err)
	loops := 0
	for _, mod := range modules {
		for e, err := range mod.Entries(dac.MapMethodDef) {
			if err != nil {
				continue
			}
			m, err := code.Of(rt).TrustedMethodDesc(e.Value)
			if err != nil {
				continue
			}
			versions, err := code.Of(rt).CodeVersions(m)
			if err != nil || len(versions) != 1 || versions[0].Code != 0 {
				continue
			}
			if then, tiered, _ := code.Of(rt).FirstTier(m); tiered {
				assert.Equal(t, code.TierQuickJitted, versions[0].Tier, "%v", m.Addr)
				if then == code.TierOptimized {
					loops++
				}
			}
		}
	}
	assert.NotZero(t, loops)
}
