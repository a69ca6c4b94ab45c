package acceptance_test

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestPackEndsWithItsContext: a cancelled pack ends at once, while files are searched and while
// they are written.
func TestPackEndsWithItsContext(t *testing.T) {
	d := testdump.Open(t, "net8-zoo")
	ctx, cancel := context.WithCancel(t.Context())
	var stopped time.Time
	_, err := d.Pack(ctx, io.Discard, func(_, _ int64) {
		if stopped.IsZero() {
			stopped = time.Now()
			cancel()
		}
	})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, time.Since(stopped), 10*time.Second)
	_, err = d.Pack(ctx, io.Discard, nil)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestPackKeepsPDBs: source lines are available after opening a pack, and a pack of that pack, on a
// machine without the files.
func TestPackKeepsPDBs(t *testing.T) {
	d, err := sosgo.Open(testdump.Open(t, "net8-zoo").Plain(), sosgo.Options{Offline: true, Modules: []string{testcase.ModuleSet(t, "net8-linux")}})
	require.NoError(t, err)
	defer d.Close()
	dir := t.TempDir()
	for _, name := range []string{"first.tar.zst", "second.tar.zst"} {
		name = filepath.Join(dir, name)
		packed, err := d.PackFile(t.Context(), name, nil)
		require.NoError(t, err)
		assert.Greater(t, len(packed.Files), 10)
		for _, m := range packed.Missing {
			assert.Contains(t, []string{".dll", ".so"}, filepath.Ext(m))
		}
		d, err = sosgo.Open(name, sosgo.Options{Offline: true})
		require.NoError(t, err)
		defer d.Close()
		assert.Len(t, d.File().PackedFiles(), len(packed.Files))
		rt, err := d.Runtime()
		require.NoError(t, err)
		modules, err := rt.Modules()
		require.NoError(t, err)
		i := slices.IndexFunc(modules, func(m *dac.Module) bool { return m.Label() == "Debuggee.dll" })
		require.GreaterOrEqual(t, i, 0)
		pdb, err := modules[i].PDB()
		require.NoError(t, err)
		assert.Equal(t, "/app/net8/Debuggee.pdb", pdb.Path)
	}
}
