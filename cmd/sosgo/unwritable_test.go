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
