package mmapfile_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/mmapfile"
	"github.com/sosgo/sosgo/target"
)

var _ target.Source = (*mmapfile.File)(nil)

func TestOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte("0123456789"), 0o600))
	for _, noMmap := range []bool{false, true} {
		f, err := mmapfile.Open(name, noMmap)
		require.NoError(t, err)
		assert.Equal(t, !noMmap, f.Mapped())
		assert.EqualValues(t, 10, f.Size())
		if noMmap {
			assert.Nil(t, f.Bytes(2, 3))
		} else {
			assert.Equal(t, "234", string(f.Bytes(2, 3)))
			assert.Equal(t, 3, cap(f.Bytes(2, 3)))
		}
		p := make([]byte, 4)
		n, err := f.ReadAt(p, 3)
		assert.NoError(t, err)
		assert.Equal(t, "3456", string(p[:n]))
		n, err = f.ReadAt(p, 8)
		assert.ErrorIs(t, err, io.EOF)
		assert.Equal(t, "89", string(p[:n]))
		_, err = f.ReadAt(p, 10)
		assert.ErrorIs(t, err, io.EOF)
		_, err = f.ReadAt(p, -1)
		assert.Error(t, err)
		require.NoError(t, f.Close())
		assert.False(t, f.Mapped())
	}
}

func TestOpenEmpty(t *testing.T) {
	name := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(name, nil, 0o600))
	f, err := mmapfile.Open(name, false)
	require.NoError(t, err)
	defer f.Close()
	assert.False(t, f.Mapped())
	assert.Zero(t, f.Size())
	_, err = f.ReadAt(make([]byte, 1), 0)
	assert.ErrorIs(t, err, io.EOF)
}

func TestOpenNotAFile(t *testing.T) {
	_, err := mmapfile.Open(t.TempDir(), false)
	assert.ErrorIs(t, err, target.ErrUnsupported)
	_, err = mmapfile.Open(filepath.Join(t.TempDir(), "none"), false)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestNamedPipe checks that a named pipe without a writer is refused at once.
func TestNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := exec.CommandContext(t.Context(), "mkfifo", name).Run(); err != nil {
		t.Skip("this system has no mkfifo")
	}
	writer := exec.CommandContext(t.Context(), "sh", "-c", `sleep 10; exec 3>>"$0"`, name) // ends a failing test
	require.NoError(t, writer.Start())
	began := time.Now()
	_, err := mmapfile.Open(name, false)
	require.ErrorIs(t, err, target.ErrUnsupported)
	require.ErrorContains(t, err, "is a pipe")
	assert.Less(t, time.Since(began), 9*time.Second, "it waited for a writer")
	_ = writer.Process.Kill()
	_ = writer.Wait()
}

// TestExchanged checks that a named pipe that takes the place of a file does not make its reader wait, whenever it comes.
func TestExchanged(t *testing.T) {
	dir := t.TempDir()
	name, file, pipe := filepath.Join(dir, "name"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	if err := exec.CommandContext(t.Context(), "mkfifo", pipe).Run(); err != nil {
		t.Skip("this system has no mkfifo")
	}
	require.NoError(t, os.Link(file, name))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(name)
			_ = os.Link([]string{file, pipe}[i%2], name)
		}
	}()
	opened, refused := 0, 0
	tried := make(chan struct{})
	go func() {
		defer close(tried)
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
			f, err := mmapfile.OpenRegular(name)
			if err != nil {
				refused++
				continue
			}
			opened++
			_ = f.Close()
		}
	}()
	select {
	case <-tried:
	case <-time.After(10 * time.Second):
		t.Error("it waits for a writer of the pipe")
		w, err := os.OpenFile(pipe, os.O_RDWR, 0) // ends the reader
		require.NoError(t, err)
		defer w.Close()
		<-tried
	}
	close(stop)
	<-done
	assert.Positive(t, opened)
	assert.Positive(t, refused)
}

// TestOwn checks that a file of a cache is regular, is no link and has the size that its reader expects.
func TestOwn(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("1234"), 0o600))
	b, err := mmapfile.ReadOwn(root, "file", 4)
	require.NoError(t, err)
	assert.Equal(t, "1234", string(b))
	_, err = mmapfile.ReadOwn(root, "file", 3)
	require.ErrorIs(t, err, target.ErrLimit)
	_, err = mmapfile.ReadOwn(root, ".", 3)
	require.ErrorIs(t, err, target.ErrUnsupported)
	if os.Symlink("file", filepath.Join(dir, "link")) == nil {
		_, err = mmapfile.ReadOwn(root, "link", 4)
		require.Error(t, err)
	}
	if exec.CommandContext(t.Context(), "mkfifo", filepath.Join(dir, "pipe")).Run() == nil {
		_, err = mmapfile.ReadOwn(root, "pipe", 4)
		require.ErrorContains(t, err, "is a pipe")
	}
}
