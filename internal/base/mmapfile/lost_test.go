package mmapfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/machine"
	"github.com/sosgo/sosgo/internal/base/mmapfile"
)

// TestLost: a file that becomes shorter is lost, whether its missing part is read or not. Reading that part is an error of the machine, and no end of the
// file. The answer stays after Close, and if the file becomes whole again after such a read.
func TestLost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	const size = 3 << 20
	for _, noMmap := range []bool{false, true} {
		for _, left := range []int64{0, 5000, size - 10} {
			name := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(name, make([]byte, size), 0o600))
			open := func() *mmapfile.File {
				f, err := mmapfile.Open(name, noMmap)
				require.NoError(t, err)
				return f
			}
			whole, unread, read := open(), open(), open()
			require.NoError(t, whole.Lost())
			require.NoError(t, whole.Close())
			require.NoError(t, os.Truncate(name, left))
			require.NoError(t, whole.Lost(), "it was closed before")

			assert.True(t, machine.Failed(unread.Lost()))
			require.ErrorContains(t, unread.Lost(), "became shorter")
			n, err := read.ReadAt(make([]byte, size), 0)
			if left < size-4096 || noMmap { // the rest of the last page of a mapping is zeros
				assert.Less(t, n, size)
				assert.True(t, machine.Failed(err), err)
			}
			require.Error(t, read.Lost())
			require.NoError(t, os.Truncate(name, size))
			assert.Error(t, read.Lost())
			require.NoError(t, read.Close())
			assert.Error(t, read.Lost())
			require.NoError(t, unread.CloseNow())
			assert.Error(t, unread.Lost())
		}
	}
}
