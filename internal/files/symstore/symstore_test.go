package symstore_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/image"
	"github.com/sosgo/sosgo/internal/files/modfiles"
	"github.com/sosgo/sosgo/internal/files/symstore"
	"github.com/sosgo/sosgo/target"
)

func TestKeys(t *testing.T) {
	elf := &image.Identity{BuildID: []byte{0xde, 0xad, 0xbe, 0xef}}
	pe := &image.Identity{TimeDateStamp: 0x6adaee, SizeOfImage: 0x47a000}
	for _, c := range []struct {
		path string
		id   *image.Identity
		want string
	}{
		{"/usr/share/dotnet/libcoreclr.so", elf, "libcoreclr.so/elf-buildid-deadbeef/libcoreclr.so"},
		{`C:\app\CoreCLR.dll`, pe, "coreclr.dll/006adaee47a000/coreclr.dll"},
		{"/app/x.dll", &image.Identity{}, ""},
		{"", elf, ""},
		{"/app/..", elf, ""},
		{`/app/a"b`, elf, ""},
	} {
		require.Equal(t, c.want, symstore.FileKey(c.path, c.id), c.path)
	}
	guid := [16]byte{0x78, 0x56, 0x34, 0x12, 0x34, 0x12, 0x78, 0x56, 0x9a, 0xbc, 0xde, 0xf0, 1, 2, 3, 4}
	require.Equal(t, "foo.pdb/12345678123456789abcdef001020304ffffffff/foo.pdb", symstore.PortablePDBKey(`/src/Foo.pdb`, guid))
}

var (
	module   = &target.Module{Path: "/app/libcoreclr.so"}
	identity = &image.Identity{BuildID: []byte{1, 2}}
)

const key = "libcoreclr.so/elf-buildid-0102/libcoreclr.so"

func TestCache(t *testing.T) {
	c := symstore.Cache{t.TempDir()}
	require.Empty(t, slices.Collect(c.Candidates(module, identity)))
	p := c.Path(key)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte("x"), 0o644))
	require.Equal(t, []string{p}, slices.Collect(c.Candidates(module, identity)))
}

// userFolders sets a new home and a new folder for temporary files.
func userFolders(t *testing.T) (home, temp string) {
	home, temp = t.TempDir(), t.TempDir()
	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, home)
	}
	for _, v := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(v, temp)
	}
	return home, temp
}

// keep puts a file into a cache under the key of the tests' module.
func keep(t *testing.T, c symstore.Cache, content string) string {
	p := c.Path(key)
	require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	require.NoError(t, os.WriteFile(p, []byte(content), 0o644))
	return p
}

func TestDefaultCaches(t *testing.T) {
	home, temp := userFolders(t)
	inHome := symstore.Cache{filepath.Join(home, ".dotnet", "symbolcache")}
	inTemp := symstore.Cache{filepath.Join(temp, "SymbolCache")}
	require.Empty(t, symstore.DefaultCaches(), "a folder that is not there is none")
	require.NoError(t, os.MkdirAll(inHome.Dir, 0o755))
	require.NoError(t, os.WriteFile(inTemp.Dir, nil, 0o644))
	require.Equal(t, []symstore.Cache{inHome}, symstore.DefaultCaches(), "nor is a file")
	require.NoError(t, os.Remove(inTemp.Dir))
	require.NoError(t, os.MkdirAll(inTemp.Dir, 0o755))
	require.Equal(t, []symstore.Cache{inHome, inTemp}, symstore.DefaultCaches())
	download := func() symstore.Cache {
		t.Helper()
		c, err := symstore.DownloadCache()
		require.NoError(t, err)
		return c
	}
	require.Equal(t, inHome, download())

	for _, v := range []string{"HOME", "USERPROFILE"} {
		t.Setenv(v, "")
	}
	require.Equal(t, []symstore.Cache{inTemp}, symstore.DefaultCaches())
	require.Equal(t, inTemp, download(), "there is no home to keep downloads in")
	if runtime.GOOS == "windows" {
		return // access control lists decide there
	}
	require.NoError(t, os.Chmod(inTemp.Dir, 0o777)) //nolint:gosec // a folder that everybody may write in is what is refused
	require.Empty(t, symstore.DefaultCaches())
	_, err := symstore.DownloadCache()
	require.ErrorIs(t, err, fs.ErrPermission)
}

// TestLocalSourcesInOrder checks the order: installed runtimes, then the caches, with the home's file first.
func TestLocalSourcesInOrder(t *testing.T) {
	home, temp := userFolders(t)
	inHome := symstore.Cache{filepath.Join(home, ".dotnet", "symbolcache")}
	inTemp := symstore.Cache{filepath.Join(temp, "SymbolCache")}
	keep(t, inHome, "in the home")
	keep(t, inTemp, "in the folder of temporary files")
	require.Equal(t, []modfiles.Source{&modfiles.Installed{}, inHome, inTemp}, symstore.Local())
}
