package modfiles

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/target"
)

// A closer closes files before it proposes a path.
type closer struct {
	files *Files
	path  string
}

func (c *closer) Candidates(*target.Module, *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		if err := c.files.Close(); err == nil {
			yield(c.path)
		}
	}
}

// TestFilesFoundAfterClose checks that a search that ends after Close closes the file that it found.
func TestFilesFoundAfterClose(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "libx.so"), library(1))
	source := &closer{path: path}
	f := &Files{Finder: &Finder{More: []Source{source}}, Memory: process(t)}
	source.files = f
	r := f.Look(t.Context(), known("/app/libx.so"))
	assert.ErrorIs(t, r.Err, target.ErrClosed)
	assert.Nil(t, r.Image)

	guid := target.GUID{1}
	f = &Files{Finder: &Finder{Dirs: []string{write(t, filepath.Join(t.TempDir(), "x.pdb"), pdb(guid, "text"))}}, Memory: process(t)}
	require.NoError(t, f.Close())
	_, _, err := f.PDB(&target.Module{Path: "/app/x.dll"}, target.PDBID{GUID: guid}, func([]byte) error { return nil })
	assert.ErrorIs(t, err, target.ErrClosed)
	requireUnmapped(t, path)
}

// TestCloseDuringSearch closes files while goroutines search them, and checks that no file stays mapped.
func TestCloseDuringSearch(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "libx.so"), library(1))
	write(t, filepath.Join(dir, "libx.so.dbg"), library(1))
	memory := process(t)
	for range 100 {
		f := &Files{Finder: &Finder{Dirs: []string{dir}}, Memory: memory}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				_, err := f.File(known("/app/libx.so"), nil)
				assert.True(t, err == nil || errors.Is(err, target.ErrClosed), "%v", err)
			})
			all.Go(func() {
				_, err := f.DebugFile(known("/app/libx.so"))
				assert.True(t, err == nil || errors.Is(err, target.ErrClosed), "%v", err)
			})
			all.Go(func() { assert.NoError(t, f.Close()) })
		}
		all.Wait()
	}
	requireUnmapped(t, dir)
}

// requireUnmapped checks that no file of a path is mapped once the garbage collector has run. Only Linux lists
// mappings.
func requireUnmapped(t *testing.T, path string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		list, err := os.ReadFile("/proc/self/maps")
		return assert.NoError(t, err) && !strings.Contains(string(list), path)
	}, 10*time.Second, 10*time.Millisecond, "%s stays mapped", path)
}
