package modfiles

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// TestRenamed checks that a file with another name than in the process is found by its identity only.
func TestRenamed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a", "crash.core"), []byte("no image"))
	other := write(t, filepath.Join(dir, "a", "crash.core.app"), library(9))
	right := write(t, filepath.Join(dir, "b", "crash.core.app"), library(1))
	dll := write(t, filepath.Join(dir, "b", "saved.bin"), assembly(7, 0x3000, 3))
	m := &target.Module{Path: "/app/Pocket"}
	for name, c := range map[string]struct {
		dirs []string
		id   image.Identity
		want string
	}{
		"a folder":           {[]string{dir}, image.Identity{BuildID: []byte{1, 2, 3, 4}}, right},
		"the file itself":    {[]string{other, right}, image.Identity{BuildID: []byte{1, 2, 3, 4}}, right},
		"another build":      {[]string{dir}, image.Identity{BuildID: []byte{2, 2, 3, 4}}, ""},
		"a PE image":         {[]string{dir}, image.Identity{TimeDateStamp: 0x5e07, SizeOfImage: 0x3000}, dll},
		"of another size":    {[]string{dir}, image.Identity{TimeDateStamp: 0x5e07, SizeOfImage: 0x4000}, ""},
		"without identity":   {[]string{dir}, image.Identity{}, ""},
		"a folder not there": {[]string{filepath.Join(dir, "c")}, image.Identity{BuildID: []byte{1, 2, 3, 4}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			im, tried, err := find(t, &Finder{Dirs: c.dirs}, m, c.id)
			if c.want == "" {
				assert.ErrorIs(t, err, os.ErrNotExist)
				assert.Empty(t, tried)
				return
			}
			require.NoError(t, err)
			defer im.Close()
			assert.Equal(t, c.want, im.Path())
		})
	}
}
