//go:build linux || darwin || freebsd

package outfile_test

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/outfile"
)

// writing names an environment variable: a child process writes a file and two folders in its value's
// folder, and never finishes.
const writing = "SOSGO_TEST_WRITING"

func TestMain(m *testing.M) {
	dir := os.Getenv(writing)
	if dir == "" {
		os.Exit(m.Run())
	}
	_, err := outfile.Create(filepath.Join(dir, "pack"), outfile.Options{})
	if err == nil {
		_, _, err = outfile.TempDir(dir)
	}
	fmt.Println(outfile.WriteDir(filepath.Join(dir, "tables"), outfile.DirOptions{}, func(string) error {
		fmt.Println("writing", err)
		time.Sleep(time.Minute)
		return nil
	}))
}

func perm(t *testing.T, name string) fs.FileMode {
	t.Helper()
	st, err := os.Stat(name)
	require.NoError(t, err)
	return st.Mode().Perm()
}

// umask disables the umask during a test.
func umask(t *testing.T) {
	old := syscall.Umask(0)
	t.Cleanup(func() { syscall.Umask(old) })
}

// TestPerm: a written file has at most the permissions of its inputs, and is private while it is
// written.
func TestPerm(t *testing.T) {
	umask(t)
	dir := t.TempDir()
	dump := func(mode fs.FileMode) string {
		name := put(t, filepath.Join(dir, fmt.Sprintf("core%o", mode)), "x")
		require.NoError(t, os.Chmod(name, mode))
		return name
	}
	secret, group, open, readOnly := dump(0o600), dump(0o640), dump(0o644), dump(0o400)
	for _, c := range []struct {
		names []string
		want  fs.FileMode
	}{
		{nil, 0o666}, {[]string{secret}, 0o600}, {[]string{readOnly}, 0o600}, {[]string{group}, 0o640}, {[]string{open}, 0o644},
		{[]string{open, secret}, 0o600}, {[]string{open, group}, 0o640}, {[]string{open, "-"}, 0o600}, {[]string{""}, 0o600},
	} {
		assert.Equal(t, c.want, outfile.PermOf(c.names...), c.names)
		o := outfile.Options{Perm: func() fs.FileMode { return outfile.PermOf(c.names...) }}
		name := filepath.Join(dir, "out")
		require.NoError(t, os.RemoveAll(name))
		require.NoError(t, outfile.Write(name, o, func(w io.Writer) error {
			assert.EqualValues(t, 0o600, perm(t, w.(*outfile.File).Name()), "while it is written")
			return nil
		}))
		assert.Equal(t, c.want, perm(t, name), c.names)

		require.NoError(t, os.Chmod(name, 0o666))
		require.NoError(t, outfile.Write(name, o, say("again")))
		assert.Equal(t, c.want, perm(t, name), "one that is there does not give more")
		require.NoError(t, os.Chmod(name, 0o600))
		require.NoError(t, outfile.Write(name, o, say("again")))
		assert.EqualValues(t, 0o600, perm(t, name), "nor gets more")

		folder := filepath.Join(dir, "folder")
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, outfile.WriteDir(folder, outfile.DirOptions{Perm: o.Perm}, func(in string) error {
			assert.EqualValues(t, 0o700, perm(t, in), "while it is filled")
			return nil
		}))
		assert.Equal(t, c.want|c.want&0o444>>2|0o100, perm(t, folder), c.names)
	}
	name := put(t, filepath.Join(dir, "log"), "x")
	require.NoError(t, os.Chmod(name, 0o644))
	require.NoError(t, outfile.Write(name, outfile.Options{Append: true, Perm: outfile.Private}, say("y")))
	assert.EqualValues(t, 0o644, perm(t, name), "what is added to another file does not change it")
}

// TestLeftovers: the next writer removes the temporary files of a killed process, and keeps those
// of a running one.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	parts := func() []string {
		list, err := filepath.Glob(filepath.Join(dir, ".sosgo-*.part"))
		require.NoError(t, err)
		return list
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), writing+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "writing <nil>\n", line)
	left := parts()
	require.Len(t, left, 3)
	assert.EqualValues(t, 0o700, perm(t, left[2]), "a folder for temporary files")
	old := time.Now().Add(-time.Hour)
	age := func() {
		for _, p := range left {
			require.NoError(t, os.Chtimes(p, old, old))
		}
	}
	age()
	write := func() { require.NoError(t, outfile.Write(filepath.Join(dir, "other"), outfile.Options{}, say("x"))) }
	write()
	assert.Equal(t, left, parts(), "they are still written")

	require.NoError(t, child.Process.Signal(syscall.SIGKILL))
	_ = child.Wait() // killed
	require.Equal(t, left, parts())
	put(t, filepath.Join(left[1], "dump.parquet"), "half")
	age()
	theirs := []string{put(t, filepath.Join(dir, ".sosgo-notes"), "mine"), put(t, filepath.Join(dir, "download.part"), "mine")}
	fifo := filepath.Join(dir, ".sosgo-1-1.x.part")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	require.NoError(t, os.Chtimes(fifo, old, old))
	write()
	assert.Equal(t, []string{fifo}, parts(), "only files and folders are what is written")
	for _, name := range theirs {
		assert.FileExists(t, name)
	}
}

// TestPrivateDir accepts a folder that only the user can write to.
func TestPrivateDir(t *testing.T) {
	dir := t.TempDir()
	assert.NoError(t, outfile.PrivateDir(filepath.Join(dir, "none")))
	assert.ErrorContains(t, outfile.PrivateDir(put(t, filepath.Join(dir, "file"), "")), "is not a folder")
	for mode, fine := range map[fs.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o777: false, 0o777 | fs.ModeSticky: false} {
		require.NoError(t, os.Chmod(dir, mode))
		err := outfile.PrivateDir(dir)
		assert.Equal(t, fine, err == nil, "%v: %v", mode, err)
		assert.True(t, fine || strings.Contains(err.Error(), "others may write"), err)
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	if err := os.Chown(dir, 12345, -1); err != nil {
		t.Skip("only root gives folders away:", err)
	}
	assert.ErrorIs(t, outfile.PrivateDir(dir), fs.ErrPermission)
	assert.ErrorContains(t, outfile.PrivateDir(dir), "another user")
}
