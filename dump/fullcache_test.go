package dump

import (
	"compress/gzip"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/test/synth"
	"github.com/sosgo/sosgo/target"
)

// TestFullCache: a dump for which the folder of the cache has no room is unpacked to a temporary file, and the advice of the error is right if that
// has no room, either.
func TestFullCache(t *testing.T) {
	path, cache := filepath.Join(t.TempDir(), "dump.gz"), filepath.Join(t.TempDir(), "cache")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write((&synth.ELFCore{Segments: []synth.ELFSegment{{Addr: 0x10000, Data: make([]byte, 1<<16)}}}).Bytes())
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())

	elsewhere := int64(math.MaxInt64)
	defer func(before func(*os.File) (int64, bool)) { spaceFor = before }(spaceFor)
	spaceFor = func(f *os.File) (int64, bool) {
		if strings.HasPrefix(f.Name(), cache) {
			return 1 << 12, true
		}
		return elsewhere, true
	}
	o := Options{Cache: cache, CacheLeast: 1}
	opened, err := Open(path, o)
	require.NoError(t, err)
	_, err = target.Uint8(opened, 0x1ffff)
	require.NoError(t, err)
	require.NoError(t, opened.Close())
	left, err := os.ReadDir(cache)
	require.NoError(t, err)
	assert.Empty(t, left)

	elsewhere = 1 << 12
	_, err = Open(path, o)
	require.ErrorIs(t, err, target.ErrLimit)
	require.ErrorContains(t, err, "TMPDIR")

	elsewhere = math.MaxInt64
	spaceFor = func(*os.File) (int64, bool) { return math.MaxInt64, true }
	opened, err = Open(path, o)
	require.NoError(t, err)
	require.NoError(t, opened.Close())
	left, err = os.ReadDir(cache)
	require.NoError(t, err)
	assert.NotEmpty(t, left, "with room, it is kept")
}
