package modfiles

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// library returns a library with a build id that starts with id.
func library(id byte) []byte { return synth.ELFLibrary(id, 2, 3, 4) }

func write(t *testing.T, path string, b []byte) string {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, b, 0o600))
	return path
}

// find searches a file as Files does, by the identity alone.
func find(t *testing.T, f *Finder, m *target.Module, id image.Identity) (*image.Image, []Candidate, error) {
	im, _, tried, err := f.Find(t.Context(), m, &id, func(img *image.Image) (Proof, error) { return f.Judge(nowhere{}, m, &id, img) })
	return im, tried, err
}

// nowhere is empty memory.
type nowhere struct{}

func (nowhere) ReadMemory(p []byte, a target.Addr) (int, error) {
	return 0, &target.MemoryError{Addr: a, Size: len(p), Err: target.ErrNotInDump}
}
func (nowhere) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (nowhere) Span(target.Addr) []byte              { return nil }

func TestFind(t *testing.T) {
	dir := t.TempDir()
	wrong := write(t, filepath.Join(dir, "a", "libx.so"), library(9))
	text := write(t, filepath.Join(dir, "b", "LIBX.so"), []byte("text, and not an image"))
	right := write(t, filepath.Join(dir, "c", "d", "libx.so"), library(1))
	write(t, filepath.Join(dir, "c", "other.so"), library(1))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "libx.so"), 0o700))

	f := &Finder{Dirs: []string{filepath.Join(dir, "absent"), dir}}
	m := &target.Module{Path: "/app/libx.so"}
	im, tried, err := find(t, f, m, image.Identity{BuildID: []byte{1, 2, 3, 4}})
	require.NoError(t, err)
	defer im.Close()
	assert.Equal(t, right, im.Path())
	require.Len(t, tried, 3)
	assert.Equal(t, []string{wrong, text, right}, []string{tried[0].Path, tried[1].Path, tried[2].Path})
	assert.ErrorIs(t, tried[0].Err, image.ErrMismatch)
	assert.ErrorIs(t, tried[1].Err, target.ErrCorrupt)
	assert.NoError(t, tried[2].Err)

	_, tried, err = find(t, f, m, image.Identity{BuildID: []byte{7}})
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.Len(t, tried, 3)
	_, _, err = find(t, f, m, image.Identity{})
	assert.ErrorIs(t, err, ErrUnproven, "a file that can't be checked is not taken")
}

// fixed proposes one path.
type fixed string

func (p fixed) Candidates(*target.Module, *image.Identity) iter.Seq[string] {
	return slices.Values([]string{string(p)})
}

func TestSources(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "libx.so"), library(1))
	id := image.Identity{BuildID: []byte{1, 2, 3, 4}}
	for name, f := range map[string]*Finder{
		"recorded": {Policy: Policy{Recorded: true}},
		"file":     {Dirs: []string{path}},
		"more":     {More: []Source{fixed("/dev/null"), fixed(path)}},
	} {
		im, _, err := find(t, f, &target.Module{Path: path}, id)
		require.NoError(t, err, name)
		assert.Equal(t, path, im.Path(), name)
		require.NoError(t, im.Close())
	}
	for _, p := range []string{`\\server\share\libx.so`, "//server/share/libx.so", "libx.so"} {
		_, tried, err := find(t, &Finder{Policy: Policy{Recorded: true}}, &target.Module{Path: p}, id)
		assert.ErrorIs(t, err, os.ErrNotExist)
		assert.Empty(t, tried, p)
	}
}

func TestCheck(t *testing.T) {
	im, err := image.NewBytes(library(1), image.Flat)
	require.NoError(t, err)
	for name, id := range map[string]image.Identity{
		"build id":   {BuildID: []byte{1}},
		"time stamp": {TimeDateStamp: 1, SizeOfImage: 2},
	} {
		assert.ErrorIs(t, id.Check(im), image.ErrMismatch, name)
	}
	assert.ErrorIs(t, (&image.Identity{MVID: [16]byte{1}}).Check(im), target.ErrUnsupported)
	assert.NoError(t, (&image.Identity{BuildID: []byte{1, 2, 3, 4}}).Check(im))
}
