package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestBundleOffset checks the offset in the bundle of a single-file app and the file name of each assembly. An
// assembly with its own file is not in a bundle.
func TestBundleOffset(t *testing.T) {
	for name, bundled := range map[string]bool{"net10-single": true, "net10-zoo": false, "net9-zoo": false, "net8-zoo": false,
		"win-net10-zoo": false, "win-net8-zoo": false, "win-net6-zoo": false} {
		t.Run(name, func(t *testing.T) {
			rt, err := testdump.Open(t, name).Runtime()
			require.NoError(t, err)
			modules, err := rt.Modules()
			require.NoError(t, err)
			names, checked := map[string]bool{}, 0
			for _, m := range modules {
				at, err := m.Image()
				require.NoError(t, err)
				if at.Start == 0 {
					continue // made by Reflection.Emit
				}
				offset, err := m.BundleOffset()
				require.NoError(t, err)
				assert.Equal(t, bundled, offset != 0, m.Label())
				file, err := m.File()
				require.NoError(t, err)
				names[file] = true
				checked++
			}
			assert.NotZero(t, checked)
			if bundled {
				assert.True(t, names["System.Private.CoreLib.dll"])
				assert.True(t, names["Debuggee.dll"], "the file, not Pocket.exe of its metadata: %v", names)
			}
		})
	}
}

// TestBundleVersions checks that an assembly in a bundle has a version, although it is not in the process's
// module list.
func TestBundleVersions(t *testing.T) {
	for _, name := range []string{"net10-arm64", "net10-single"} {
		t.Run(name, func(t *testing.T) {
			rt, err := testdump.Open(t, name).Runtime()
			require.NoError(t, err)
			rows, err := rt.DescribeAssemblies(t.Context(), nil)
			require.NoError(t, err)
			seen := 0
			for row, err := range rows {
				require.NoError(t, err)
				if row.Name.S != "System.Private.CoreLib.dll" {
					continue
				}
				seen++
				if row.Version.Err == nil {
					assert.Equal(t, "10.0.926.27113", row.Version.S)
				} else {
					assert.ErrorIs(t, row.Version.Err, target.ErrNotInDump, "of a slice")
				}
			}
			assert.Equal(t, 1, seen)
		})
	}
}
