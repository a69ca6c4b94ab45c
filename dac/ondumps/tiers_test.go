package ondumps_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/app/methods"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestTiers compares the counts of code by tier with the program: it called Hot until it was compiled again,
// ran a long loop once, called Cold once, and never called Never.
func TestTiers(t *testing.T) {
	const observed = "../../testdata/dumps/observed/net10-observed/net10-observed.dmp.zst"
	if _, err := os.Stat(observed); err != nil {
		t.Skip("testdata/dumps is not here: it is a module of its own")
	}
	d, _ := testdump.OverlaidFile(t, observed, sosgo.Options{Offline: true})
	v, err := d.View("")
	require.NoError(t, err)
	out, err := methods.Tiers(t.Context(), v.Process)
	require.NoError(t, err)
	for _, err := range out.Noted() { // requests of ReJIT are cut off the dump
		assert.ErrorIs(t, err, target.ErrNotInDump)
	}
	assert.Empty(t, out.Replaced, "the process has no profiler")
	assert.Zero(t, out.Unknown)
	rows := map[string]answer.TierCount{}
	active := int64(0)
	for _, r := range out.Tiers {
		rows[r.Tier] = r
		active += r.Active
	}
	assert.Equal(t, out.Methods, active, "calls of each method run one of its bodies")
	assert.Equal(t, answer.TierCount{Tier: "OptimizedTier1OSR", Bodies: 1, Bytes: rows["OptimizedTier1OSR"].Bytes}, rows["OptimizedTier1OSR"], "the loop, which calls do not enter")
	assert.Equal(t, rows["QuickJitted"].Active, out.Waiting)

	rt, err := v.Runtime()
	require.NoError(t, err)
	tiers := map[string][]string{}
	for info, err := range dac.CodeOf(rt).JITCode() {
		require.NoError(t, err)
		if info.Method == nil {
			continue
		}
		m, err := methods.Method(t.Context(), v.Process, info.Method.Addr)
		require.NoError(t, err)
		if name := m.Name.Value; len(tiers[name]) == 0 {
			for _, b := range m.Versions {
				tiers[name] = append(tiers[name], b.Tier)
			}
		}
	}
	assert.Equal(t, []string{"QuickJitted", "OptimizedTier1"}, tiers["Shop.Program.Hot(Int32)"])
	assert.Equal(t, []string{"QuickJitted"}, tiers["Shop.Program.Cold(Int32)"])
	assert.Equal(t, []string{"QuickJitted", "OptimizedTier1OSR"}, tiers["Shop.Program.Loop(Int32)"])
	assert.NotContains(t, tiers, "Shop.Program.Never(Int32)")
}
