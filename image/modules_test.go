package image_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// zoo returns a canned dump opened by package dump. A runtime's opener would import this package
// and be compiled again for its tests.
func zoo(t *testing.T) *dump.File {
	t.Helper()
	f, err := dump.Open("../testdata/dumps/net10-zoo/net10-zoo.dmp.zst", dump.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

// module returns the module of f with that file name.
func module(t *testing.T, f *dump.File, name string) target.Module {
	t.Helper()
	all := f.Modules()
	i := slices.IndexFunc(all, func(m target.Module) bool { return target.BaseName(m.Path) == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

func TestList(t *testing.T) {
	d := zoo(t)
	list, err := image.List(t.Context(), d, d, image.ListOptions{Exports: []string{"g_dacTable"}, Sections: true})
	require.NoError(t, err)
	byName := map[string]answer.Image{}
	total, n := uint64(0), 0
	for m, err := range list.Images {
		require.NoError(t, err)
		assert.Equal(t, list.List[n], m.MappedImage)
		byName[target.BaseName(m.Path)] = m
		total += m.Size
		n++
	}
	assert.Len(t, list.List, n)
	assert.Equal(t, total, list.Total)

	app := byName["Debuggee.dll"]
	assert.True(t, app.PE.Value && app.Managed.Value)
	require.NotNil(t, app.PDB)
	assert.Equal(t, "Debuggee.pdb", target.BaseName(app.PDB.Path))
	clr := byName["libcoreclr.so"]
	assert.Equal(t, answer.Known(false), clr.PE)
	assert.Equal(t, answer.Known(false), clr.Managed)
	assert.Len(t, clr.BuildID, 40)
	require.Len(t, clr.Exports, 1)
	assert.Greater(t, clr.Exports[0].Address, clr.Address)
	assert.NotEmpty(t, clr.Sections)
	assert.Nil(t, app.Exports)
}

// holeAt is a memory without the first page of one image.
type holeAt struct {
	target.Memory
	page target.Range
}

func (h holeAt) ReadMemory(p []byte, a target.Addr) (int, error) {
	if h.page.Contains(a) {
		return 0, &target.MemoryError{Addr: a, Size: len(p), Err: target.ErrNotInDump}
	}
	return h.Memory.ReadMemory(p, a)
}

func (h holeAt) View(target.Addr, int) ([]byte, bool) { return nil, false }
func (h holeAt) Span(target.Addr) []byte              { return nil }

// TestListUnreadable: it is unknown whether an unreadable image is managed.
func TestListUnreadable(t *testing.T) {
	d := zoo(t)
	app := module(t, d, "Debuggee.dll")
	mem := holeAt{d, target.Range{Start: app.Base, End: app.Base + 0x1000}}
	list, err := image.List(t.Context(), d, mem, image.ListOptions{})
	require.NoError(t, err)
	found := false
	for m, err := range list.Images {
		if err != nil || m.Address != app.Base {
			continue
		}
		found = true
		assert.ErrorIs(t, m.Managed.Err(), target.ErrNotInDump)
	}
	assert.True(t, found)
}

// TestListHeadless: images without headers are listed with the size of their mappings.
func TestListHeadless(t *testing.T) {
	core := synth.ELFCore{
		Notes:    []synth.ELFNote{synth.ELFFiles(4096, synth.ELFFile{Start: 0x10000, End: 0x14000, Path: "/lib/a.so"}, synth.ELFFile{Start: 0x20000, End: 0x22000, Path: "/lib/b.so"})},
		Segments: []synth.ELFSegment{{Addr: 0x10000, Size: 0x4000}, {Addr: 0x20000, Data: synth.ELFImage(3, 0, [4]uint64{0, 0, 0x2000, 0x2000})}},
	}
	f, err := elfcore.Open(target.BytesSource(core.Bytes()))
	require.NoError(t, err)
	list, err := image.List(t.Context(), f, f, image.ListOptions{})
	require.NoError(t, err)
	assert.Equal(t, []answer.MappedImage{{Address: 0x10000, SOSIndex: 0, Size: 0x4000, Path: "/lib/a.so", Headless: true},
		{Index: 1, SOSIndex: 0, Address: 0x20000, Size: 0x2000, Path: "/lib/b.so"}}, list.List)
	assert.EqualValues(t, 0x6000, list.Total)
	assert.EqualValues(t, 0x4000, list.Headless)
}

func TestListOne(t *testing.T) {
	d := zoo(t)
	clr := module(t, d, "libcoreclr.so")
	inside := clr.Base + 0x10
	list, err := image.List(t.Context(), d, d, image.ListOptions{At: &inside})
	require.NoError(t, err)
	require.Len(t, list.List, 1)
	assert.Equal(t, clr.Path, list.List[0].Path)

	match := func(name string) bool { return strings.HasPrefix(name, "Debuggee") }
	list, err = image.List(t.Context(), d, d, image.ListOptions{Match: match})
	require.NoError(t, err)
	assert.NotEmpty(t, list.List)
	for _, m := range list.List {
		assert.True(t, match(target.BaseName(m.Path)), m.Path)
	}

	nowhere := target.Addr(8)
	_, err = image.List(t.Context(), d, d, image.ListOptions{At: &nowhere})
	require.ErrorIs(t, err, target.ErrNotInDump)
	_, err = image.SaveFile(t.Context(), d, d, nowhere, filepath.Join(t.TempDir(), "x"))
	require.ErrorIs(t, err, target.ErrNotInDump)
}

// TestSaveFile: a saved file is an image again, no file is overwritten, and a cancelled save leaves
// no file.
func TestSaveFile(t *testing.T) {
	d := zoo(t)
	name := filepath.Join(t.TempDir(), "clr")
	saved, err := image.SaveFile(t.Context(), d, d, module(t, d, "libcoreclr.so").Base, name)
	require.NoError(t, err)
	assert.Equal(t, saved.Missing > 0, len(saved.Noted()) > 0)
	img, err := image.OpenFile(name)
	require.NoError(t, err)
	assert.Equal(t, image.KindELF, img.Kind())
	require.NoError(t, img.Close())
	_, err = image.SaveFile(t.Context(), d, d, module(t, d, "libcoreclr.so").Base, name)
	require.ErrorIs(t, err, os.ErrExist)

	stopped, stop := context.WithCancel(t.Context())
	stop()
	dir := t.TempDir()
	_, err = image.SaveFile(stopped, d, d, module(t, d, "libcoreclr.so").Base, filepath.Join(dir, "clr"))
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
