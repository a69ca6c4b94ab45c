package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestBundleOffset: the runtime says where in the bundle of a single-file app an
// assembly lies, and what its file is called; one with a file of its own lies in no
// bundle.
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

// TestBundleVersions: an assembly of a bundle is no module of the process's list, and has its version all the same.
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
