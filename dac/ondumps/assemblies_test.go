package ondumps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

func TestDescribeAssemblies(t *testing.T) {
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		rt, err := d.Runtime()
		if err != nil {
			t.Skip(err)
		}
		if err := rt.Check(dac.FeatureModules); err != nil {
			t.Skip(err)
		}
		list, err := rt.DescribeAssemblies(t.Context(), nil)
		require.NoError(t, err)
		byName := map[string]*answer.LoadedModule{}
		for m, err := range list {
			if err == nil {
				byName[target.BaseName(m.Name.String())] = m
			}
		}
		core, ok := byName["System.Private.CoreLib.dll"]
		require.True(t, ok)
		assert.True(t, core.PE)
		assert.False(t, core.Dynamic)

		list, err = rt.DescribeAssemblies(t.Context(), func(name string) bool { return strings.HasSuffix(name, "CoreLib.dll") })
		require.NoError(t, err)
		for m, err := range list {
			if err == nil {
				assert.Equal(t, core.Module, m.Module)
			}
		}
	})
}
