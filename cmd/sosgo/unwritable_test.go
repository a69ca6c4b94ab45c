package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// writingOf returns a line of writers for a folder and a dump.
func writingOf(d *testdump.Dump, line, out string) string {
	var module string
	for _, m := range d.Target().Modules() {
		if strings.HasSuffix(m.Path, "libcoreclr.so") {
			module = m.Base.String()
		}
	}
	return strings.NewReplacer("{out}", out, "{module}", module).Replace(line)
}

// TestUnwritable: one exit code says that a file or folder can't be written, whatever writes it.
func TestUnwritable(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, line := range writers {
		if strings.HasPrefix(line, "-graph-dir") {
			continue // a graph that can't be kept is a warning
		}
		out, errs, code := run(t, "-d", d.Plain(), "-offline", "-c", writingOf(d, line, filepath.ToSlash(file)))
		assert.Equal(t, cli.ExitWrite, code, "%s: %s%s", line, out, errs)
		assert.NotContains(t, errs, "you may not read", line)
	}
}

// TestTaken: an existing file stays in the place of a new one, and one exit code says so, whatever writes. Only the
// redirection of a session replace a file, and a fleet needs its folder.
func TestTaken(t *testing.T) {
	d := testdump.Open(t, "net10-zoo")
	for _, line := range writers {
		if strings.HasPrefix(line, "-graph-dir") {
			continue // its files have names of their own
		}
		dir := t.TempDir()
		file := filepath.Join(dir, "x")
		require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
		_, errs, code := run(t, "-d", d.Plain(), "-offline", "-c", writingOf(d, line, filepath.ToSlash(dir)))
		switch {
		case strings.Contains(line, " > "):
			assert.Zero(t, code, "%s: %s", line, errs)
			continue
		case strings.Contains(line, "-summary"):
			assert.Equal(t, cli.ExitWrite, code, "%s: %s", line, errs)
		default:
			assert.Equal(t, cli.ExitUsage, code, "%s: %s", line, errs)
			assert.Contains(t, errs, "x already exists", line)
		}
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "mine", string(content), line)
		assert.Equal(t, []string{"x"}, filesOf(t, dir), line)
	}
}
