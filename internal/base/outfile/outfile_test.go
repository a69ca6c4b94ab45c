package outfile_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/base/outfile"
)

func put(t *testing.T, name, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func content(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(b)
}

func say(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	broken := errors.New("broken")
	fail := func(w io.Writer) error { _, _ = io.WriteString(w, "half"); return broken }

	assert.ErrorIs(t, outfile.Write(name, outfile.Options{}, fail), broken)
	assert.NoFileExists(t, name, "a half file is no file")
	require.NoError(t, outfile.Write(name, outfile.Options{}, say("one")))
	assert.Equal(t, "one", content(t, name))
	assert.ErrorIs(t, outfile.Write(name, outfile.Options{New: true}, say("two")), fs.ErrExist)
	assert.ErrorIs(t, outfile.Write(name, outfile.Options{Append: true}, fail), broken)
	assert.ErrorIs(t, outfile.Write(name, outfile.Options{}, fail), broken)
	assert.Equal(t, "one", content(t, name), "what was there stays")
	require.NoError(t, outfile.Write(name, outfile.Options{Append: true}, say("+two")))
	assert.Equal(t, "one+two", content(t, name))
	require.NoError(t, outfile.Write(filepath.Join(dir, "new"), outfile.Options{New: true}, say("n")))
	require.NoError(t, outfile.Write(filepath.Join(dir, "new"), outfile.Options{Checked: true}, say("checked")))
	assert.ErrorIs(t, outfile.Write(filepath.Join(dir, "new"), outfile.Options{Checked: true}, fail), broken)
	assert.Equal(t, "checked", content(t, filepath.Join(dir, "new")), "whole, or what was there")
	require.NoError(t, outfile.Write(filepath.Join(dir, "added"), outfile.Options{Append: true}, say("a")))
	assert.Error(t, outfile.Write(dir, outfile.Options{}, say("x")))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 3, "nothing is left beside")
}

// TestCreatedMeanwhile: with Options.New, a file that appears during writing is not replaced.
func TestCreatedMeanwhile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	f, err := outfile.Create(name, outfile.Options{New: true})
	require.NoError(t, err)
	put(t, name, "theirs")
	assert.ErrorIs(t, f.Commit(), fs.ErrExist)
	assert.Equal(t, "theirs", content(t, name))
}

// TestGuard: the guard gets the file that would be lost, also through a link, and is called again
// by Commit.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	dump := put(t, filepath.Join(dir, "core"), "evidence")
	st, err := os.Stat(dump)
	require.NoError(t, err)
	var refused error
	o := outfile.Options{Guard: func(path string, existing fs.FileInfo) error {
		if os.SameFile(st, existing) {
			return refused
		}
		return nil
	}}
	names := []string{dump, filepath.Join(dir, ".", "sub", "..", "core")}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	if runtime.GOOS != "windows" {
		link, hard := filepath.Join(dir, "link"), filepath.Join(dir, "hard")
		require.NoError(t, os.Symlink("core", link))
		require.NoError(t, os.Link(dump, hard))
		names = append(names, link, hard)
	}
	for _, name := range names {
		for _, o := range []outfile.Options{o, {Guard: o.Guard, Append: true}} {
			refused = fmt.Errorf("%s is the dump", name)
			assert.ErrorIs(t, outfile.Write(name, o, say("gone")), refused)
			refused = nil
			f, err := outfile.Create(name, o)
			require.NoError(t, err)
			refused = errors.New("known by now")
			assert.ErrorIs(t, f.Commit(), refused)
			assert.Equal(t, "evidence", content(t, dump))
		}
	}
}

func TestLinksAndDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	file, link := put(t, filepath.Join(dir, "file"), "old"), filepath.Join(dir, "link")
	require.NoError(t, os.Chmod(file, 0o640))
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, outfile.Write(link, outfile.Options{}, say("new")))
	assert.Equal(t, "new", content(t, file), "a link stays one")
	st, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, st.Mode()&fs.ModeSymlink)
	st, err = os.Stat(file)
	require.NoError(t, err)
	assert.EqualValues(t, 0o640, st.Mode().Perm())

	require.NoError(t, os.Symlink("nothing", filepath.Join(dir, "broken")))
	assert.ErrorIs(t, outfile.Write(filepath.Join(dir, "broken"), outfile.Options{}, say("x")), fs.ErrInvalid)
	require.NoError(t, outfile.Write(os.DevNull, outfile.Options{}, say("x")))
	require.NoError(t, outfile.Write(os.DevNull, outfile.Options{New: true}, say("x")))
}
