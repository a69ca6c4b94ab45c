package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pagedMain runs sosgo on a terminal of 24 rows, with a pager that is the shell script. Its output is the pager's.
func pagedMain(t *testing.T, script string, vars map[string]string, args ...string) (screen, stderr string, code int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the pager of the test is a shell script")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "page")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho page \"$@\"\n"+script), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	all := map[string]string{"PAGER": "page by default"}
	for name, v := range vars {
		all[name] = v
	}
	var stdout, errs bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(""), &stdout, &errs, Env{Commands: fakeCommands(),
		LookupEnv:  func(n string) (string, bool) { v, ok := all[n]; return v, ok },
		IsTerminal: func(stream any) bool { return stream == any(&stdout) },
	})
	return stdout.String(), errs.String(), code
}

// TestPager: output that does not fit on the screen goes through a pager, unless the user wants none.
func TestPager(t *testing.T) {
	for _, tt := range []struct {
		vars map[string]string
		args string
		want string // the first line
	}{
		{nil, "lines 23", "line 0"},
		{nil, "lines 24", "page by default"},
		{nil, "lines 100000", "page by default"},
		{nil, "--no-pager lines 100", "line 0"},
		{map[string]string{"SOSGO_PAGER": ""}, "lines 100", "line 0"},
		{map[string]string{"SOSGO_PAGER": "page -x"}, "lines 100", "page -x"},
		{map[string]string{"PAGER": "cat"}, "lines 100", "line 0"},
		{map[string]string{"PAGER": "no-such-pager"}, "lines 100", "line 0"},
		{map[string]string{"TERM": "dumb"}, "lines 100", "line 0"},
		{nil, "--json lines 100", "page by default"},
		{nil, "-c|lines 100 | grep line", "page by default"},
		{nil, "-c|lines 100 | head -n 3", "line 0"},
		{nil, "-c|lines 3 | no-such-filter", ""},
	} {
		args := strings.Fields(tt.args)
		if before, line, found := strings.Cut(tt.args, "|"); found && before == "-c" {
			args = []string{before, line}
		}
		screen, stderr, code := pagedMain(t, "cat", tt.vars, args...)
		first, rest, _ := strings.Cut(screen, "\n")
		assert.Equal(t, tt.want, first, "%v", tt)
		if strings.HasPrefix(tt.want, "page") {
			plain := runMain(t, "", "", nil, args...)
			assert.Equal(t, plain.stdout, rest, "%v", tt)
			assert.Equal(t, plain.stderr, stderr)
			assert.Zero(t, code)
		}
	}
}

// TestPagerIsNamed: a filter that is a pager shows also what fits, and takes its own options.
func TestPagerIsNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "less"), []byte("#!/bin/sh\necho less \"$@\"\ncat"), 0o700))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	screen, _, _ := pagedMain(t, "cat", nil, "--no-pager", "-c", "lines 2 | less -S")
	assert.Equal(t, "less -S\nline 0\nline 1\n", screen)
	o := runMain(t, "", "", nil, "-c", "lines 2 | less -S")
	assert.Equal(t, "line 0\nline 1\n", o.stdout, "where there is no terminal, there is no pager")
}

// TestPagerIsLeft: a pager that ends early ends the command, which is no error.
func TestPagerIsLeft(t *testing.T) {
	screen, stderr, code := pagedMain(t, "head -n 2", nil, "lines", "1000000000000")
	assert.Equal(t, "page by default\nline 0\nline 1\n", screen)
	assert.Empty(t, stderr)
	assert.Equal(t, ExitOK, code)
}

// TestPagerHasTheScreen: messages come when the pager has ended.
func TestPagerHasTheScreen(t *testing.T) {
	var stderr bytes.Buffer
	s := &stderrWriter{w: &stderr}
	s.hold()
	s.print("message\n")
	_, err := s.Write([]byte("bar"))
	require.NoError(t, err)
	assert.Empty(t, stderr.String())
	s.release()
	assert.Equal(t, "message\n", stderr.String(), "a progress bar is not drawn late")
	s.print("next\n")
	assert.Equal(t, "message\nnext\n", stderr.String())
}
