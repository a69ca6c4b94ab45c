package modfiles_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/elfcore"
	"github.com/sosgo/sosgo/internal/mmapfile"
	"github.com/sosgo/sosgo/internal/modfiles"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// TestCorpus finds the files of every dump among those of all module sets: the
// same names in several versions, of which content picks one.
func TestCorpus(t *testing.T) {
	root := os.Getenv("SOSGO_CORPUS")
	if root == "" {
		t.Skip("SOSGO_CORPUS is not set")
	}
	manifests, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	require.NoError(t, err)
	finder := &modfiles.Finder{Dirs: []string{filepath.Join(root, "modules")}}
	for _, path := range manifests {
		var c struct{ Dump, Modules, OS, Runtime string }
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &c))
		dir := filepath.Dir(path)
		if c.Modules == "" {
			continue
		}
		t.Run(filepath.Base(dir), func(t *testing.T) {
			f, err := mmapfile.Open(filepath.Join(dir, c.Dump), false)
			require.NoError(t, err)
			defer f.Close()
			var tg target.Target
			if c.OS == "windows" {
				tg, err = minidump.Open(f)
			} else {
				tg, err = elfcore.Open(f)
			}
			require.NoError(t, err)
			findAll(t, finder, tg)
		})
	}
}

func findAll(t *testing.T, finder *modfiles.Finder, tg target.Target) {
	found, clr := 0, 0
	for _, m := range tg.Modules() {
		im, _, err := finder.Find(&m, modfiles.IdentityOf(tg, &m))
		runtime := strings.HasSuffix(m.Path, "coreclr.dll") || strings.HasSuffix(m.Path, "libcoreclr.so")
		if runtime {
			clr++
			assert.NoError(t, err, m.Path)
		}
		if err == nil {
			found++
			assert.NoError(t, im.Close())
		}
	}
	assert.NotZero(t, clr)
	assert.Greater(t, found, 5)
	t.Logf("%d of %d modules", found, len(tg.Modules()))
}
