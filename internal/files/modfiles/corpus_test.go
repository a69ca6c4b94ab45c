package modfiles_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/internal/test/testcase"
	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

// TestCorpus finds the files of every dump in all module sets. The content selects among versions with the same
// name.
func TestCorpus(t *testing.T) {
	finder := &modfiles.Finder{}
	for _, dir := range testcase.ModuleSets(t) {
		finder.Dirs = append(finder.Dirs, filepath.Dir(dir))
	}
	finder.Dirs = slices.Compact(finder.Dirs)
	hasModules := func(c *testcase.Case) bool { return c.Modules != "" }
	testcase.Corpus(t, hasModules, func(t *testing.T, c *testcase.Case) int {
		f, err := mmapfile.Open(c.Path, false)
		require.NoError(t, err)
		defer f.Close()
		var tg target.Target
		if testcase.OnWindows(c) {
			tg, err = minidump.Open(f)
		} else {
			tg, err = elfcore.Open(f)
		}
		require.NoError(t, err)
		return findAll(t, finder, tg, c.Modules)
	})
}

// findAll returns the number of files found.
func findAll(t *testing.T, finder *modfiles.Finder, tg target.Target, set string) (found int) {
	clr := 0
	for _, m := range tg.Modules() {
		id := image.IdentityOf(tg, &m)
		im, _, _, err := finder.Find(t.Context(), &m, &id, func(im *image.Image) (modfiles.Proof, error) { return finder.Judge(tg, &m, &id, im) })
		runtime := strings.HasSuffix(m.Path, "coreclr.dll") || strings.HasSuffix(m.Path, "libcoreclr.so")
		if runtime {
			clr++
		}
		if _, absent := os.Stat(filepath.Join(set, filepath.Base(m.Path))); runtime && absent == nil {
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
	return found
}
