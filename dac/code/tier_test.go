package code

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/target"
)

// TestTierBeforeCompiling: that a method has a loop is noticed by the compiler. Until it has looked, the method is one
// that will be compiled quickly.
func TestTierBeforeCompiling(t *testing.T) {
	rt := openCanned(t, "net31-zoo", func(m target.Memory) target.Memory { return m }, nil)
	r := Of(rt)
	c, err := r.members()
	require.NoError(t, err)
	modules, err := rt.KnownModules()
	require.NoError(t, err)
	loops := 0
	for _, mod := range modules {
		for e, err := range mod.Entries(dac.MapMethodDef) {
			if err != nil {
				continue
			}
			m, err := r.TrustedMethodDesc(e.Value)
			if err != nil {
				continue
			}
			versions, err := r.CodeVersions(m)
			if err != nil || len(versions) != 1 || versions[0].Code != 0 || !c.tiered.of(m) {
				continue
			}
			assert.Equal(t, TierQuickJitted, versions[0].Tier, "%v", m.Addr)
			if then, _ := r.firstTier(m); then == TierOptimized {
				loops++
			}
		}
	}
	assert.NotZero(t, loops)
}
