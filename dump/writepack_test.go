package dump_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// processWith returns a dump of a process with modules at the given paths.
func processWith(paths ...string) []byte {
	d := synth.NewMinidump()
	d.SystemInfo(synth.MinidumpAMD64)
	var modules []synth.MinidumpModule
	for i, p := range paths {
		modules = append(modules, synth.MinidumpModule{Base: 0x10000 * uint64(i+1), Size: 0x1000, Path: p})
	}
	d.Modules(modules...)
	d.Memory(synth.MinidumpRange{Addr: 0x10000, Data: []byte("memory!\n")})
	return d.Bytes()
}

func openBytes(t *testing.T, b []byte, o dump.Options) *dump.File {
	t.Helper()
	f, err := dump.OpenReaderAt(bytes.NewReader(b), int64(len(b)), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, f.Close()) })
	return f
}

// inFolder finds modules' files and PDBs by name in a folder. Files of libraries that are missing
// are not needed.
func inFolder(dir string) dump.PackFinder {
	return func(_ context.Context, m *target.Module) ([]dump.PackEntry, error) {
		p := filepath.Join(dir, target.BaseName(m.Path))
		if _, err := os.Stat(p); err != nil {
			if filepath.Ext(p) == ".so" {
				err = dump.ErrNotNeeded
			}
			return nil, err
		}
		out := []dump.PackEntry{{Path: p, Module: m.Path}}
		pdb := func(p string) string { return strings.TrimSuffix(p, filepath.Ext(p)) + ".pdb" }
		if _, err := os.Stat(pdb(p)); err == nil {
			out = append(out, dump.PackEntry{Path: pdb(p), Module: pdb(m.Path)})
		}
		return out, nil
	}
}

// folder writes files with the given contents to a new folder.
func folder(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	return dir
}

func content(t *testing.T, r io.ReaderAt, size int64) string {
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	require.NoError(t, err)
	return string(b)
}

func assertEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestPackFile writes a pack and opens it: the dump is unchanged, and each file has its module's
// path.
func TestPackFile(t *testing.T) {
	raw := processWith("/srv/App.dll", "/srv/libx.so", "/srv/gone.dll", "/srv/App.dll", "/srv/folder.dll", "/usr/lib/libc.so")
	modules := folder(t, map[string]string{"App.dll": "the program", "App.pdb": "its lines", "libx.so": "the library"})
	require.NoError(t, os.Mkdir(filepath.Join(modules, "folder.dll"), 0o700))
	path := write(t, raw)
	f, err := dump.Open(path, dump.Options{})
	require.NoError(t, err)
	defer f.Close()

	dir := t.TempDir()
	name := filepath.Join(dir, "p.tar.zst")
	var calls []int64
	packed, err := f.PackFile(t.Context(), name, inFolder(modules), func(done, total int64) {
		assert.EqualValues(t, len(raw)+len("the program")+len("its lines")+len("the library"), total)
		calls = append(calls, done)
		require.LessOrEqual(t, done, total)
	})
	require.NoError(t, err)
	assert.Equal(t, &answer.Pack{
		File: name,
		Files: []answer.PackedFile{
			{Path: filepath.Join(modules, "App.dll"), Size: 11},
			{Path: filepath.Join(modules, "App.pdb"), Size: 9},
			{Path: filepath.Join(modules, "libx.so"), Size: 11},
		},
		Missing: []string{"/srv/gone.dll", "/srv/folder.dll"},
		Others:  1,
	}, packed)
	assert.IsNonDecreasing(t, calls)
	assert.EqualValues(t, len(raw)+31, calls[len(calls)-1])
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing but the pack")

	for _, noMmap := range []bool{false, true} {
		again, err := dump.Open(name, dump.Options{NoMmap: noMmap})
		require.NoError(t, err)
		assert.Equal(t, "zstd", again.Compressed)
		assert.Equal(t, dump.FormatMinidump, again.Format)
		assert.Equal(t, string(raw), content(t, again.Content(), again.Size))
		assert.Equal(t, f.Modules(), again.Modules())
		got := map[string]string{}
		for _, p := range again.PackedFiles() {
			got[p.Path] = content(t, p.Source(), p.Source().Size())
		}
		assert.Equal(t, map[string]string{
			"/srv/App.dll": "the program", "/srv/App.pdb": "its lines", "/srv/libx.so": "the library",
		}, got)
		require.NoError(t, again.Close())
	}
}

// TestPackNames: the dump keeps its file's name; a dump without a file is named "dump".
func TestPackNames(t *testing.T) {
	raw := processWith()
	path := write(t, raw)
	named, err := dump.Open(path, dump.Options{})
	require.NoError(t, err)
	defer named.Close()
	for want, f := range map[string]*dump.File{"dump/any.name": named, "dump/dump": openBytes(t, raw, dump.Options{})} {
		var b bytes.Buffer
		packed, err := f.Pack(t.Context(), &b, inFolder(""), nil)
		require.NoError(t, err)
		assert.Equal(t, &dump.Packed{}, packed)
		zr, err := zstd.NewReader(&b)
		require.NoError(t, err)
		var names []string
		archive := tar.NewReader(zr)
		for {
			h, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			names = append(names, h.Name)
		}
		zr.Close()
		assert.Equal(t, []string{dump.PackMark, want}, names)
	}
}

// TestPackFileIsThere: an existing file is not overwritten, and no modules are searched.
func TestPackFileIsThere(t *testing.T) {
	f := openBytes(t, processWith("/srv/App.dll"), dump.Options{})
	name := write(t, []byte("precious"))
	_, err := f.PackFile(t.Context(), name, func(context.Context, *target.Module) ([]dump.PackEntry, error) {
		t.Error("a module is looked for")
		return nil, nil
	}, nil)
	assert.ErrorIs(t, err, fs.ErrExist)
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(b))

	_, err = f.PackFile(t.Context(), filepath.Join(t.TempDir(), "none", "p.tar.zst"), inFolder(""), nil)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

// TestCancelledPack cancels a pack while files are searched and while they are written. The error
// is the context's, and no file is left.
func TestCancelledPack(t *testing.T) {
	f := openBytes(t, processWith("/srv/App.dll", "/srv/libx.so"), dump.Options{})
	modules := folder(t, map[string]string{"App.dll": "the program", "libx.so": "the library"})
	t.Run("looking", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		dir, asked := t.TempDir(), 0
		_, err := f.PackFile(ctx, filepath.Join(dir, "p"), func(ctx context.Context, m *target.Module) ([]dump.PackEntry, error) {
			asked++
			cancel()
			return inFolder(modules)(ctx, m)
		}, nil)
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 1, asked)
		assertEmpty(t, dir)
	})
	t.Run("writing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		_, err := f.PackFile(ctx, filepath.Join(dir, "p"), inFolder(modules), func(int64, int64) { cancel() })
		assert.ErrorIs(t, err, context.Canceled)
		assertEmpty(t, dir)
	})
}

// TestModuleFileChanges: if a module's file shrinks or vanishes during writing, the error names it.
func TestModuleFileChanges(t *testing.T) {
	f := openBytes(t, processWith("/srv/App.dll"), dump.Options{})
	for name, c := range map[string]struct {
		change func(path string) error
		want   error
	}{
		"shrinks": {func(path string) error { return os.Truncate(path, 1) }, io.ErrUnexpectedEOF},
		"goes":    {os.Remove, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder(t, map[string]string{"App.dll": "the program"}), "App.dll")
			dir, changed := t.TempDir(), false
			_, err := f.PackFile(t.Context(), filepath.Join(dir, "p"), inFolder(filepath.Dir(path)), func(int64, int64) {
				if !changed {
					changed = true
					require.NoError(t, c.change(path))
				}
			})
			assert.ErrorIs(t, err, c.want)
			assert.ErrorContains(t, err, path)
			assertEmpty(t, dir)
		})
	}
}

// fullDisk is a writer that fails.
type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestPackToAFullDisk(t *testing.T) {
	f := openBytes(t, processWith(), dump.Options{})
	_, err := f.Pack(t.Context(), fullDisk{}, inFolder(""), nil)
	assert.ErrorIs(t, err, errFull)
}
