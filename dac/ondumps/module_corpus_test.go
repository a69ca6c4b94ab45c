package ondumps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestModuleWantsProof checks that loaded modules are accepted, even if their assembly is not in the dump.
// Other addresses are refused: as corrupt if something contradicts, else as not in the dump.
func TestModuleWantsProof(t *testing.T) {
	believed := 0
	testdump.Canned(t, func(t *testing.T, d *testdump.Dump) {
		if !d.HasRuntime() {
			t.Skip("no CLR")
		}
		rt, err := d.Runtime()
		require.NoError(t, err)
		known, _ := rt.KnownModules() // all that the dump contains
		require.NotEmpty(t, known)
		for _, m := range known {
			got, err := rt.Module(m.Addr)
			require.NoError(t, err)
			require.Same(t, m, got)
		}
		for mt, err := range rt.LoadedTypes() {
			if err != nil {
				continue
			}
			if _, err := rt.TrustedModule(mt.Addr); err == nil {
				believed++
			}
			_, err = rt.Module(mt.Addr)
			if assert.Error(t, err, "MethodTable %016x is no Module", uint64(mt.Addr)) {
				assert.True(t, testdump.Typed(err), "MethodTable %016x: %v", uint64(mt.Addr), err)
			}
		}
	})
	require.NotZero(t, believed, "no dump has a MethodTable whose word for the assembly lies outside of it")
}
