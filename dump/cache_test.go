//go:build unix

package dump_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/dump"
	"github.com/sosgo/sosgo/target"
)

// unpackings opens a dump and returns how often it was unpacked.
func unpackings(t *testing.T, path string, o dump.Options, want byte) int {
	n := 0
	o.CacheLeast = 1
	o.Progress = func(done, total int64) {
		if done == total {
			n = 1
		}
	}
	f, err := dump.Open(path, o)
	require.NoError(t, err)
	defer f.Close()
	b, err := target.Uint8(f, 0x10000)
	require.NoError(t, err)
	assert.Equal(t, want, b)
	assert.NotEmpty(t, f.Compressed)
	return n
}

func entries(t *testing.T, dir, pattern string) []string {
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	return files
}

func TestCache(t *testing.T) {
	for name, pack := range map[string]func(testing.TB, []byte) []byte{"gzip": gz, "zstd": func(t testing.TB, b []byte) []byte { return zst(t, b) }} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "cache")
			path := filepath.Join(t.TempDir(), "dump")
			require.NoError(t, os.WriteFile(path, pack(t, filled(1)), 0o600))
			o := dump.Options{Cache: dir}
			assert.Equal(t, 1, unpackings(t, path, o, 1))
			assert.Equal(t, 0, unpackings(t, path, o, 1), "the second command unpacks nothing")
			assert.Equal(t, 1, unpackings(t, path, dump.Options{}, 1), "off")
			info, err := os.Stat(dir)
			require.NoError(t, err)
			assert.EqualValues(t, 0o700, info.Mode().Perm())
			for _, f := range entries(t, dir, "*") {
				info, err := os.Stat(f)
				require.NoError(t, err)
				assert.EqualValues(t, 0o600, info.Mode().Perm(), f)
			}
			// The key depends on the content, not on the name.
			require.NoError(t, os.Rename(path, path+"2"))
			assert.Equal(t, 0, unpackings(t, path+"2", o, 1))
			require.NoError(t, os.WriteFile(path+"2", pack(t, filled(2)), 0o600))
			assert.Equal(t, 1, unpackings(t, path+"2", o, 2))
			assert.Len(t, entries(t, dir, "*"), 4)
		})
	}
}

// TestDamagedCache: a changed entry is unpacked again.
func TestDamagedCache(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, entry string){
		"written to": func(t *testing.T, entry string) { require.NoError(t, os.WriteFile(entry, filled(3), 0o600)) },
		"a byte, and the time set back": func(t *testing.T, entry string) {
			info, err := os.Stat(entry)
			require.NoError(t, err)
			b, err := os.ReadFile(entry)
			require.NoError(t, err)
			b[len(b)-1]++
			require.NoError(t, os.WriteFile(entry, b, 0o600))
			require.NoError(t, os.Chtimes(entry, info.ModTime(), info.ModTime()))
		},
		"cut":         func(t *testing.T, entry string) { require.NoError(t, os.Truncate(entry, 5000)) },
		"others' too": func(t *testing.T, entry string) { require.NoError(t, os.Chmod(entry, 0o666)) },
		"gone":        func(t *testing.T, entry string) { require.NoError(t, os.Remove(entry)) },
		"left without record": func(t *testing.T, entry string) {
			require.NoError(t, os.Remove(entry[:len(entry)-5]+".json"))
			then := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(entry, then, then))
		},
		"a folder": func(t *testing.T, entry string) {
			require.NoError(t, os.Remove(entry))
			require.NoError(t, os.MkdirAll(filepath.Join(entry, "full"), 0o700))
		},
		"a folder as record": func(t *testing.T, entry string) {
			record := entry[:len(entry)-5] + ".json"
			require.NoError(t, os.Remove(record))
			require.NoError(t, os.MkdirAll(filepath.Join(record, "full"), 0o700))
		},
		"a folder alone": func(t *testing.T, entry string) {
			require.NoError(t, os.Remove(entry))
			require.NoError(t, os.Remove(entry[:len(entry)-5]+".json"))
			require.NoError(t, os.MkdirAll(filepath.Join(entry, "full"), 0o700))
			then := time.Now().Add(-time.Hour)
			require.NoError(t, os.Chtimes(entry, then, then))
		},
		"a link": func(t *testing.T, entry string) {
			require.NoError(t, os.Rename(entry, entry+"x"))
			require.NoError(t, os.Symlink(entry+"x", entry))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := t.TempDir(), filepath.Join(t.TempDir(), "dump")
			require.NoError(t, os.Chmod(dir, 0o700))
			require.NoError(t, os.WriteFile(path, zst(t, filled(1)), 0o600))
			o := dump.Options{Cache: dir}
			unpackings(t, path, o, 1)
			files := entries(t, dir, "*.dump")
			require.Len(t, files, 1)
			damage(t, files[0])
			assert.Equal(t, 1, unpackings(t, path, o, 1))
			assert.Equal(t, 0, unpackings(t, path, o, 1))
		})
	}
}

// TestCacheBounds: least recently used and old entries are removed, and a dump that is too large is
// not kept.
func TestCacheBounds(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := func(i byte) string {
		p := filepath.Join(t.TempDir(), "dump")
		require.NoError(t, os.WriteFile(p, zst(t, filled(i)), 0o600))
		return p
	}
	o := dump.Options{Cache: dir, CacheSize: 5 << 19} // room for two
	one, two := path(1), path(2)
	unpackings(t, one, o, 1)
	unpackings(t, two, o, 2)
	for _, f := range entries(t, dir, "*.json") {
		require.NoError(t, os.Chtimes(f, time.Now(), time.Now().Add(-time.Hour)))
	}
	assert.Equal(t, 0, unpackings(t, one, o, 1))
	unpackings(t, path(3), o, 3)
	assert.Equal(t, 0, unpackings(t, one, o, 1))
	assert.Len(t, entries(t, dir, "*.dump"), 2)
	assert.Equal(t, 1, unpackings(t, two, o, 2))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "unpacking-123"), nil, 0o600))
	for _, f := range entries(t, dir, "*") {
		require.NoError(t, os.Chtimes(f, time.Now(), time.Now().Add(-8*24*time.Hour)))
	}
	o.CacheSize = 1 << 19
	assert.Equal(t, 1, unpackings(t, one, o, 1))
	assert.Empty(t, entries(t, dir, "*"))

	// A folder that other users can write to is not used.
	require.NoError(t, os.Chmod(dir, 0o777))
	o.CacheSize = 0
	assert.Equal(t, 1, unpackings(t, one, o, 1))
	assert.Empty(t, entries(t, dir, "*"))
}

// TestCacheShared: processes that unpack the same dump at once don't disturb each other.
func TestCacheShared(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.WriteFile(path, zst(t, filled(1)), 0o600))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { unpackings(t, path, dump.Options{Cache: dir}, 1) })
	}
	wg.Wait()
	assert.Equal(t, 0, unpackings(t, path, dump.Options{Cache: dir}, 1))
	assert.Len(t, entries(t, dir, "*"), 2)
}

// TestCacheOfWhatIsNone: a file that can't be opened leaves no entry.
func TestCacheOfWhatIsNone(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.Chmod(dir, 0o700))
	whole := zst(t, filled(1))
	for _, b := range [][]byte{whole[:len(whole)/2], zst(t, filled(1)[:100])} {
		require.NoError(t, os.WriteFile(path, b, 0o600))
		_, err := dump.Open(path, dump.Options{Cache: dir, CacheLeast: 1})
		assert.ErrorIs(t, err, target.ErrCorrupt)
		assert.Empty(t, entries(t, dir, "*"))
	}
}

// TestOthersFiles: an old record without a dump is removed; files that the cache did not write stay.
func TestOthersFiles(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.WriteFile(path, gz(t, filled(1)), 0o600))
	orphan := filepath.Join(dir, strings.Repeat("ab", 32)+".json")
	others := []string{"notes.json", "core.dump", strings.Repeat("g", 64) + ".dump", "unpacking-notes", "unpacking-", "unpacking-1.txt"}
	for i := range others {
		others[i] = filepath.Join(dir, others[i])
	}
	for _, f := range append([]string{orphan}, others...) {
		require.NoError(t, os.WriteFile(f, []byte("{}"), 0o600))
		require.NoError(t, os.Chtimes(f, time.Unix(0, 0), time.Unix(1e9, 0)))
	}
	assert.Equal(t, 1, unpackings(t, path, dump.Options{Cache: dir}, 1))
	assert.NoFileExists(t, orphan)
	for _, f := range others {
		assert.FileExists(t, f)
	}
}

// TestOthersLink: a link that another user has made in place of the folder is not followed; the user's own is.
func TestOthersLink(t *testing.T) {
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "dump")
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.WriteFile(path, gz(t, filled(1)), 0o600))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	want := 2
	if os.Lchown(link, os.Getuid()+1, -1) == nil { // as root
		want = 0
	}
	assert.Equal(t, 1, unpackings(t, path, dump.Options{Cache: link}, 1))
	assert.Len(t, entries(t, dir, "*"), want)
}
