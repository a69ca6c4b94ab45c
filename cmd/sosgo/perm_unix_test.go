//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// TestPermissions: whatever is made of a dump that its owner alone can read can be read by nobody else.
func TestPermissions(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := t.TempDir()
	content, err := os.ReadFile(testdump.Open(t, "net10-zoo").Path)
	require.NoError(t, err)
	secret := filepath.Join(dir, "core.1")
	require.NoError(t, os.WriteFile(secret, content, 0o600))
	in := func(name string) string { return filepath.Join(dir, name) }
	kept := testcli.Kept{Path: secret}
	for _, line := range []string{
		"pack -o " + in("pack.tar.zst"), "report -o " + in("report.html"), "export gcdump " + in("heap.gcdump"),
		"export csv " + in("csv"), "export parquet --summary " + in("fleet"), "export speedscope " + in("stacks.json"), "version > " + in("version"),
		"diff " + testdump.Open(t, "net10-zoo").Path + " > " + in("diff"),
	} {
		_, errs, code := runIn(t, kept.Env(), "--offline", "-d", secret, "--graph-dir", in("graphs"), "-c", line)
		require.NotContains(t, []int{1, 2, 6}, code, "%s: %s", line, errs)
	}
	require.NoError(t, kept.Close())
	found := 0
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		st, err := d.Info()
		require.NoError(t, err)
		// A fleet and its days are parents of other dumps' folders.
		if path != dir && path != in("fleet") && filepath.Dir(path) != in("fleet") {
			found++
			assert.Zero(t, st.Mode().Perm()&0o077, "%v %s", st.Mode(), path)
		}
		return nil
	}))
	assert.Greater(t, found, 20)

	require.NoError(t, os.Chmod(in("graphs"), 0o777))
	_, errs, code := run(t, "-d", secret, "--graph-dir", in("graphs"), "-c", "version")
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "others may write in")
}
