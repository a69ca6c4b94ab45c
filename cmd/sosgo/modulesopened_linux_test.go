package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testcase"
)

// TestModuleFilesAreOpenedWhenNeeded counts the module files that a command opens. Each bound is far below the number
// of files in the folder.
func TestModuleFilesAreOpenedWhenNeeded(t *testing.T) {
	t.Run("canned", func(t *testing.T) {
		c := testcase.Canned(t, "net10-zoo")
		dir := t.TempDir()
		for i := range 40 {
			require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("Another%d.dll", i)), []byte("no image"), 0o600))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "renamed"), []byte("no image"), 0o600))
		opened := openCounter(t, dir)
		runOver(t, c.Path, dir, "eeversion")
		names := opened()
		assert.Equal(t, map[string]int{"renamed": 1}, names, "the one file that may be the runtime's library under another name")
	})
	t.Run("corpus", func(t *testing.T) {
		c := testcase.Open(t, "web-net10-withheap")
		files, err := os.ReadDir(c.Modules)
		require.NoError(t, err)
		require.Greater(t, len(files), 100)
		dir := ownFolder(t, c.Modules)
		opened := openCounter(t, dir)
		for command, most := range map[string]int{"eeversion": 5, "dumpheap -stat": 10, "clrstack": 5} {
			runOver(t, c.Path, dir, command)
			names := opened()
			assert.LessOrEqual(t, len(names), most, "%s: %v", command, names)
			assert.NotEmpty(t, names, "%s: the watch works", command)
		}
	})
}

func runOver(t *testing.T, dump, modules, command string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Main(t.Context(), []string{"-d", dump, "--modules", modules, "-c", command}, strings.NewReader(""), &stdout, &stderr, environment(nil))
	require.Zero(t, code, "%s: %s", command, &stderr)
	require.NotZero(t, stdout.Len())
}

// ownFolder returns a folder of this test alone with the files of another, which tests of other packages read at the same time.
func ownFolder(t *testing.T, of string) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(of)
	require.NoError(t, err)
	for _, e := range entries {
		file, err := filepath.EvalSymlinks(filepath.Join(of, e.Name()))
		require.NoError(t, err)
		if os.Link(file, filepath.Join(dir, e.Name())) == nil {
			continue
		}
		// The folder is on another file system.
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, e.Name()), content, 0o600))
	}
	return dir
}

// openCounter watches a folder. The returned function lists the files of it that were opened since its last call.
func openCounter(t *testing.T, dir string) func() map[string]int {
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	require.NoError(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	_, err = syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN)
	require.NoError(t, err)
	return func() map[string]int {
		names := map[string]int{}
		buf := make([]byte, 1<<20)
		n, err := syscall.Read(fd, buf)
		if err != syscall.EAGAIN {
			require.NoError(t, err)
		}
		for b := buf[:max(n, 0)]; len(b) >= syscall.SizeofInotifyEvent; {
			size := int(binary.NativeEndian.Uint32(b[12:]))
			if name := strings.TrimRight(string(b[16:16+size]), "\x00"); name != "" { // empty for the folder itself
				names[name]++
			}
			b = b[16+size:]
		}
		return names
	}
}
