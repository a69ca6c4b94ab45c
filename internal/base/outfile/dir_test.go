package outfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/outfile"
)

// TestWriteDir: a folder appears whole or not at all, and replaces nothing.
func TestWriteDir(t *testing.T) {
	top := t.TempDir()
	name := filepath.Join(top, "a", "b")
	broken := errors.New("broken")
	fill := func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), []byte("1"), 0o600) }
	require.ErrorIs(t, outfile.WriteDir(name, outfile.DirOptions{}, func(dir string) error { return errors.Join(fill(dir), broken) }), broken)
	left, err := os.ReadDir(filepath.Join(top, "a"))
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, outfile.WriteDir(name, outfile.DirOptions{}, fill))
	assert.FileExists(t, filepath.Join(name, "x"))
	require.ErrorIs(t, outfile.WriteDir(name, outfile.DirOptions{}, fill), fs.ErrExist)
	empty := filepath.Join(top, "empty")
	require.NoError(t, os.Mkdir(empty, 0o700))
	require.NoError(t, outfile.WriteDir(empty, outfile.DirOptions{}, fill))
	assert.FileExists(t, filepath.Join(empty, "x"))
	assert.Error(t, outfile.WriteDir(filepath.Join(name, "x"), outfile.DirOptions{}, fill), "a file is in the place")
	left, err = os.ReadDir(top)
	require.NoError(t, err)
	assert.Len(t, left, 2)
}
