package modfiles

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/machine"
)

// TestLost: the file of a module that becomes shorter is lost, also after Close. The other files are not.
func TestLost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	f := &Files{}
	var names []string
	for _, name := range []string{"first", "second"} {
		name = filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(name, library(1), 0o600))
		im, err := image.OpenFile(name)
		require.NoError(t, err)
		require.NoError(t, f.own(im))
		names = append(names, name)
	}
	require.NoError(t, f.Lost())
	require.NoError(t, os.Truncate(names[1], 100))
	assert.True(t, machine.Failed(f.Lost()))
	assert.ErrorContains(t, f.Lost(), "second became shorter")
	require.NoError(t, f.Close())
	assert.ErrorContains(t, f.Lost(), "second became shorter")
}
