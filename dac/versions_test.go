package dac

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/target"
)

// versionBuilder uses the layout of NativeCodeVersionNode since .NET 6, with a tier of eight bytes.
func versionBuilder() *codeBuilder {
	b := newCodeBuilder()
	o := &b.c.VersionNode
	o.NativeCode, o.MethodDesc, o.ILVersionID, o.Next, o.Tier, o.Flags = 0, 8, 16, 24, 32, 40
	return b
}

const testMethod = 0x7000

func TestVersionNodes(t *testing.T) {
	b := versionBuilder()
	m := &MethodDesc{Addr: testMethod}
	newest := b.add(0x3000, testMethod, 2, 0, 1, nodeActive)
	middle := b.add(0x2000, testMethod, 1, newest, 99, 0)
	r := b.runtime()
	start := []CodeVersion{{Code: 0x1000, Tier: TierQuickJitted}}
	got, err := r.versionNodes(b.c, m, target.Addr(middle), start)
	require.NoError(t, err)
	assert.Equal(t, []CodeVersion{
		{Code: 0x1000, Tier: TierQuickJitted},
		{Node: target.Addr(middle), Code: 0x2000, ReJIT: 1}, // the tier is unknown
		{Node: target.Addr(newest), Code: 0x3000, Tier: TierOptimizedTier1, Active: true, ReJIT: 2},
	}, got)

	got, err = r.versionNodes(b.c, m, 0, []CodeVersion{{Code: 0x1000}})
	require.NoError(t, err)
	assert.True(t, got[0].Active, "where the runtime names none, the default version is active")

	b.c.VersionNode.ILVersionID = layout.Absent
	got, err = r.versionNodes(b.c, m, target.Addr(newest), []CodeVersion{{Code: 0x1000}})
	require.NoError(t, err)
	assert.ErrorIs(t, got[1].ReJITErr, target.ErrUnsupported, "a layout without the member is no ID of 0")
}

// TestVersionNodesLies checks that lists of other methods, without end, or cut off, end with an error beside
// the versions found.
func TestVersionNodesLies(t *testing.T) {
	b := versionBuilder()
	foreign := b.add(0x3000, 0x8000, 0, 0, 1, 0)
	cycle := b.add(0x2000, testMethod, 0, 0, 1, 0)
	b.set(cycle+24, cycle)
	cut := b.add(0x2000, testMethod, 0, 1<<40, 1, 0)
	for name, tc := range map[string]struct {
		node  uint64
		found int
	}{
		"of another method": {foreign, 1},
		"without end":       {cycle, 2},
		"cut off":           {cut, 2},
	} {
		got, err := b.runtime().versionNodes(b.c, &MethodDesc{Addr: testMethod}, target.Addr(tc.node), []CodeVersion{{}})
		require.ErrorIs(t, err, target.ErrCorrupt, name)
		assert.GreaterOrEqual(t, len(got), tc.found, name)
	}
}

func TestHasLoop(t *testing.T) {
	for name, tc := range map[string]struct {
		il   []byte
		want bool
	}{
		"br.s back":     {[]byte{0x00, 0x2b, 0xfd}, true},
		"br.s to next":  {[]byte{0x2b, 0x00, 0x2a}, false},
		"br back":       {[]byte{0x00, 0x38, 0xfa, 0xff, 0xff, 0xff}, true},
		"switch back":   {[]byte{0x00, 0x45, 1, 0, 0, 0, 0xf6, 0xff, 0xff, 0xff}, true},
		"switch ahead":  {[]byte{0x45, 1, 0, 0, 0, 0, 0, 0, 0, 0x2a}, false},
		"cut off":       {[]byte{0x38, 0xfa}, false},
		"straight line": {[]byte{0x00, 0x2a}, false},
	} {
		assert.Equal(t, tc.want, hasLoop(tc.il), name)
	}
}

func TestHasTailCall(t *testing.T) {
	assert.True(t, hasTailCall([]byte{0x02, 0xfe, 0x14, 0x28, 1, 0, 0, 6, 0x2a}), "ldarg.0, tail., call, ret")
	assert.False(t, hasTailCall([]byte{0x20, 0xfe, 0x14, 0, 0, 0x2a}), "its bytes as a number")
	assert.False(t, hasTailCall([]byte{0xfe}), "cut off")
}
