package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEvidence: no output takes the place of the dump, of another dump, or of a
// module's file, under whatever name.
func TestEvidence(t *testing.T) {
	dir := dumpFolder(t, "core.1", "other")
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, head := range map[string]string{"app.dll": "MZ\x90\x00", "lib.so": "\x7fELF\x02\x01\x01", "app.pdb": "BSJB\x01\x00"} {
		require.NoError(t, os.WriteFile(in(name), []byte(head+strings.Repeat("x", 64)), 0o600))
	}
	// The open dump is protected because it is open, whatever its content.
	require.NoError(t, os.WriteFile(in("odd"), []byte("what only the opener can read"), 0o600))
	names := []string{"odd", "core.1", "other", "app.dll", "lib.so", "app.pdb"}
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("odd", in("link")))
		require.NoError(t, os.Link(in("odd"), in("hard")))
		require.NoError(t, os.Symlink("link", in("link2")))
		names = append(names, "link", "link2", "hard")
	}
	for _, name := range names {
		before, err := os.ReadFile(in(name))
		require.NoError(t, err)
		for _, line := range []string{"obj 1 > ", "obj 1 >> ", "nosuch > ", "lines 3 | head -1 > ", "fail corrupt > ", "put -out "} {
			o := runMain(t, dir, "", nil, "-d", in("odd"), "-c", "obj 1", "-c", line+in(name))
			assert.NotZero(t, o.code, line+name)
			after, err := os.ReadFile(in(name))
			require.NoError(t, err)
			assert.Equal(t, string(before), string(after), line+name)
		}
		o := runMain(t, dir, "", nil, "-d", in("odd"), "-c", "lines 1 > "+in(name))
		assert.Equal(t, ExitUsage, o.code, name)
		assert.Contains(t, o.stderr, "does not write over it", name)
	}
	o := runMain(t, dir, "", nil, "-d", in("core.1"), "-c", "obj 1 > "+in("odd"))
	assert.Equal(t, ExitOK, o.code, o.stderr)
}

// TestFailedCommandKeepsFile: what a command does not answer leaves the file
// of its > as it was.
func TestFailedCommandKeepsFile(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	file := filepath.Join(dir, "out.txt")
	for _, line := range []string{"nosuch > ", "lines > ", "lines 3 | nosuch > ", "fail notindump > ", "fail fire >> ", "lines x >> "} {
		require.NoError(t, os.WriteFile(file, []byte("yesterday's"), 0o600))
		o := runMain(t, dir, "", nil, "-c", line+file)
		assert.NotZero(t, o.code, line)
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "yesterday's", string(b), line)
		assert.Contains(t, o.stderr, "out.txt is not written, because the command failed", line)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	assert.Empty(t, left)
	if runtime.GOOS != "windows" {
		assert.Zero(t, runMain(t, dir, "", nil, "-c", "lines 3 > /dev/null").code)
	}
}
