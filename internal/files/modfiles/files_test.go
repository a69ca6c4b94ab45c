package modfiles

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/dump/elfcore"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// The process of these tests has two modules: one identified by its memory, and one unidentified.
const (
	knownBase   = 0x10000
	unknownBase = 0x40000
)

func known(path string) *target.Module {
	return &target.Module{Base: knownBase, Size: 0x200, Path: path}
}

// process returns the memory of a process with library(1) at knownBase.
func process(t *testing.T) target.Memory {
	core := &synth.ELFCore{
		Notes:    []synth.ELFNote{synth.ELFProcess(42, "app", "app")},
		Segments: []synth.ELFSegment{{Addr: knownBase, Data: library(1), Flags: 4}},
	}
	mem, err := elfcore.Open(target.BytesSource(core.Bytes()))
	require.NoError(t, err)
	return mem
}

func packed(path string, b []byte) PackedFile { return PackedFile{path, target.BytesSource(b)} }

// TestFilesFound checks that a file on this machine is used if its build is the dump's, and opened once. Others
// are refused with the reason.
func TestFilesFound(t *testing.T) {
	right := write(t, filepath.Join(t.TempDir(), "libx.so"), library(1))
	wrong := write(t, filepath.Join(t.TempDir(), "libx.so"), library(9))
	f := &Files{Finder: &Finder{Dirs: []string{wrong, right}}, Memory: process(t)}
	var images [4]*image.Image
	var all sync.WaitGroup
	for i := range images {
		all.Go(func() {
			var err error
			images[i], err = f.File(known("/app/libx.so"), nil)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	require.NotNil(t, images[0])
	assert.Equal(t, right, images[0].Path())
	for _, img := range images {
		assert.Same(t, images[0], img)
	}
	found, err := f.Found(known("/app/libx.so"))
	require.NoError(t, err)
	assert.Same(t, images[0], found, "nothing stands between")
	_, err = f.File(&target.Module{Base: unknownBase, Size: 0x200, Path: "/app/libx.so"}, nil)
	assert.ErrorIs(t, err, ErrUnproven, "the dump does not say which file it was")
	assert.NoError(t, f.Close())

	f = &Files{Finder: &Finder{Dirs: []string{wrong}}, Memory: process(t)}
	img, err := f.File(known("/app/libx.so"), nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.Nil(t, img)
	assert.NoError(t, f.Close())
	r := f.Look(t.Context(), known("/app/libx.so"))
	assert.ErrorContains(t, r.Err, "refused: "+wrong+": build id 09020304, not 01020304")
	require.Len(t, r.Tried, 1)
	assert.ErrorIs(t, r.Tried[0].Err, image.ErrMismatch)
}

// TestFilesPacked checks that a packed file with the module's path and build is preferred to local files.
func TestFilesPacked(t *testing.T) {
	const path = "/app/libx.so"
	local := write(t, filepath.Join(t.TempDir(), "libx.so"), library(1))
	for name, c := range map[string]struct {
		files []PackedFile
		want  string
	}{
		"the file":       {[]PackedFile{packed("/app/other.so", library(1)), packed(path, library(1))}, path},
		"another path":   {[]PackedFile{packed("/app/other.so", library(1))}, local},
		"another build":  {[]PackedFile{packed(path, library(9))}, local},
		"no image":       {[]PackedFile{packed(path, []byte("text, and not an image"))}, local},
		"one of its two": {[]PackedFile{packed(path, library(9)), packed(path, library(1))}, path},
	} {
		t.Run(name, func(t *testing.T) {
			f := &Files{Finder: &Finder{Dirs: []string{local}}, Packed: c.files, Memory: process(t)}
			img, err := f.File(known(path), nil)
			require.NoError(t, err)
			assert.Equal(t, c.want, img.Path())
			id, err := img.BuildID()
			require.NoError(t, err)
			assert.Equal(t, []byte{1, 2, 3, 4}, id)
			assert.NoError(t, f.Close())
		})
	}
	f := &Files{Finder: &Finder{}, Packed: []PackedFile{packed(path, library(1))}, Memory: process(t)}
	_, err := f.File(&target.Module{Base: unknownBase, Size: 0x200, Path: path}, nil)
	assert.ErrorIs(t, err, ErrUnproven, "nor is a packed file taken on trust")
}

// absent is unreadable memory.
type absent struct{ target.Memory }

var errAbsent = errors.New("absent")

func (absent) ReadMemory([]byte, target.Addr) (int, error)   { return 0, errAbsent }
func (absent) View(target.Addr, int) (b []byte, stored bool) { return nil, false }
func (absent) Span(target.Addr) []byte                       { return nil }

// TestFilesWrap checks that readers get the wrapped file, and Found the file itself.
func TestFilesWrap(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "libx.so"), library(1))
	m, wrapped := known("/app/libx.so"), 0
	f := &Files{Finder: &Finder{Dirs: []string{path}}, Memory: process(t)}
	f.Wrap = func(of *target.Module, rvas target.Memory) target.Memory {
		wrapped++
		assert.Same(t, m, of)
		return absent{rvas}
	}
	read, err := f.File(m, nil)
	require.NoError(t, err)
	found, err := f.Found(m)
	require.NoError(t, err)
	assert.NotSame(t, read, found)
	assert.Equal(t, 1, wrapped)
	var b [4]byte
	_, err = read.ReadRVA(b[:], 0x110)
	assert.ErrorIs(t, err, errAbsent)
	_, err = found.ReadRVA(b[:], 0x110)
	require.NoError(t, err)
	assert.Equal(t, [4]byte{1, 2, 3, 4}, b)
	assert.NoError(t, f.Close())
}

// pdbs is a symbol store with one file.
type pdbs struct {
	file string
	guid target.GUID
}

func (pdbs) Candidates(*target.Module, *image.Identity) iter.Seq[string] {
	return func(func(string) bool) {}
}

func (s pdbs) PortablePDB(_ context.Context, _ string, guid [16]byte) (string, error) {
	if guid != s.guid {
		return "", os.ErrNotExist
	}
	return s.file, nil
}

// pdb returns a portable PDB with that id, as far as the tests read it.
func pdb(guid target.GUID, content string) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte("BSJB\x01\x00\x01\x00\x00\x00\x00\x00"), 12)
	b = append(b, "PDB v1.0\x00\x00\x00\x00\x00\x00\x01\x00"...)
	b = le.AppendUint32(le.AppendUint32(b, 48), 20)
	b = append(b, "#Pdb\x00\x00\x00\x00"...)
	b = append(append(b, guid[:]...), 0, 0, 0, 0)
	return append(b, content...)
}

// TestFilesPDB searches a PDB beside the module's file and then in the symbol stores, in order. One that does
// not match is refused wherever it is.
func TestFilesPDB(t *testing.T) {
	id := target.PDBID{GUID: target.GUID{1}, Path: "/src/App.pdb"}
	m := known("/srv/App.dll")
	errOther := errors.New("another content")
	check := func(b []byte) error {
		if !strings.HasSuffix(string(b), "right") {
			return errOther
		}
		return nil
	}
	file := func(content string) string {
		return write(t, filepath.Join(t.TempDir(), "app.pdb"), pdb(id.GUID, content))
	}
	right, wrong, gone := file("right"), file("wrong"), filepath.Join(t.TempDir(), "app.pdb")
	moduleBeside := func(content string) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "App.pdb"), pdb(id.GUID, content))
		return write(t, filepath.Join(dir, "App.dll"), library(1))
	}
	find := func(module string, stores ...Source) (string, error) {
		f := &Files{Finder: &Finder{More: stores}, Memory: process(t)}
		if module != "" {
			f.Finder.Dirs = []string{module}
		}
		defer func() { assert.NoError(t, f.Close()) }()
		_, path, err := f.PDB(m, id, check)
		return path, err
	}

	beside := moduleBeside("right")
	path, err := find(beside, pdbs{right, id.GUID})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(filepath.Dir(beside), "App.pdb"), path, "beside the module's file comes first")

	path, err = find(moduleBeside("wrong"), fixed(right), pdbs{right, target.GUID{2}}, pdbs{gone, id.GUID},
		pdbs{wrong, id.GUID}, pdbs{right, id.GUID})
	require.NoError(t, err)
	assert.Equal(t, right, path, "the first store that has the file")

	_, err = find("", pdbs{wrong, id.GUID})
	assert.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorIs(t, err, errOther)
	assert.ErrorContains(t, err, wrong)
	_, err = find("")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// brokenSource is unreadable.
type brokenSource struct{}

func (brokenSource) ReadAt([]byte, int64) (int, error) { return 0, io.ErrNoProgress }
func (brokenSource) Bytes(int64, int) []byte           { return nil }
func (brokenSource) Size() int64                       { return 0x200 }

// TestUnreadablePackedFile checks that an unreadable packed file is ignored.
func TestUnreadablePackedFile(t *testing.T) {
	f := &Files{Finder: &Finder{}, Packed: []PackedFile{{"/app/libx.so", brokenSource{}}}, Memory: process(t)}
	_, err := f.File(known("/app/libx.so"), nil)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// stopped is a source that the user stops on the first search.
type stopped struct {
	cancel context.CancelFunc
	path   string
}

func (s stopped) Candidates(*target.Module, *image.Identity) iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.cancel(); s.path != "" {
			yield(s.path)
		}
	}
}

// TestStoppedSearch checks that a stopped search does not count: the next one finds the file.
func TestStoppedSearch(t *testing.T) {
	path := write(t, filepath.Join(t.TempDir(), "libx.so"), library(1))
	ctx, cancel := context.WithCancel(t.Context())
	f := &Files{Finder: &Finder{More: []Source{stopped{cancel, ""}, fixed(path)}}, Memory: process(t)}
	f.Context = func() context.Context { return ctx }
	_, err := f.Found(known("/app/libx.so"))
	require.ErrorIs(t, err, context.Canceled)
	ctx = t.Context()
	img, err := f.Found(known("/app/libx.so"))
	require.NoError(t, err)
	assert.Equal(t, path, img.Path())
	assert.NoError(t, f.Close())
}

// TestDebugFile checks that the file with a module's symbols has the module's name, a longer extension and the
// module's build id. Without a build id in the dump there is no such file.
func TestDebugFile(t *testing.T) {
	right := write(t, filepath.Join(t.TempDir(), "libx.so.dbg"), library(1))
	wrong := write(t, filepath.Join(t.TempDir(), "libx.so.dbg"), library(9))
	f := &Files{Finder: &Finder{Dirs: []string{wrong, right}}, Memory: process(t)}
	img, err := f.DebugFile(known("/app/libx.so"))
	require.NoError(t, err)
	assert.Equal(t, right, img.Path())
	_, err = f.DebugFile(known("/app/liby.so"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = f.DebugFile(&target.Module{Base: unknownBase, Size: 0x200, Path: "/app/libx.so"})
	require.ErrorIs(t, err, ErrUnproven)
	assert.NoError(t, f.Close())

	only := &Files{Finder: &Finder{Dirs: []string{wrong}}, Memory: process(t)}
	_, err = only.DebugFile(known("/app/libx.so"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.ErrorContains(t, err, wrong, "what was refused is reported")
}
