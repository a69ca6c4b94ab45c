package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBadOptions checks that invalid options are never ignored.
func TestBadOptions(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	text := filepath.Join(dir, "notes.dmp")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"--modules", filepath.Join(dir, "nope")}, "there is no folder"},
		{[]string{"--modules", dir, "--modules", text}, "neither a folder nor a module's file"},
		{[]string{"--symbol-server", "ftp://x"}, "not an http or https address"},
		{[]string{"--symbol-server", "msdl"}, "not an http or https address"},
		{[]string{"--symbol-server", "http://"}, "not an http or https address"},
		{[]string{"--symbol-server", "https://x y"}, "https://… is not an http or https address"},
		{[]string{"--symbol-server", "https://x", "--offline"}, "-symbol-server and -offline exclude"},
		{[]string{"--symbol-cache", text}, "is not a folder"},
		{[]string{"--graph-dir", text}, "is not a folder"},
		{[]string{"--graph-dir", dir, "--sandbox"}, "-sandbox and -graph-dir exclude"},
		{[]string{"--limit", "nope=1"}, "unpacked: bytes"},
		{[]string{"--limit", "unpacked"}, "is not NAME=SIZE"},
		{[]string{"--limit", "unpacked=0"}, "is not a size"},
		{[]string{"--limit", "unpacked=-1"}, "is not a size"},
		{[]string{"--jobs", "-1"}, "not between"},
	} {
		for _, rest := range [][]string{{"obj", "1"}, {"-c", "obj 1"}, {"analyze"}} {
			code, _, stderr := withFiles(t, dir, nil, append(tt.args, rest...)...)
			assert.Equal(t, ExitUsage, code, "%v: %s", tt.args, stderr)
			assert.Contains(t, stderr, tt.want, tt.args)
		}
	}
}

// filesDump is a dump with problems with its module files.
type filesDump struct {
	fakeDump
	problems []error
}

func (d *filesDump) FileProblems() []error { return d.problems }

func withFiles(t *testing.T, dir string, got *OpenOptions, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	env := Env{Commands: fakeCommands(), Dir: dir, Limits: []Limit{{"unpacked", "bytes"}},
		Open: func(_ context.Context, _ string, o OpenOptions) (Dump, error) {
			if got != nil {
				*got = o
			}
			return &filesDump{fakeDump{new(int)}, []error{errors.New("symbol server http://x: connection refused")}}, nil
		}}
	var out, errs bytes.Buffer
	code = Main(t.Context(), args, strings.NewReader(""), &out, &errs, env)
	return code, out.String(), errs.String()
}

// TestOpenOptions checks that options reach the opener, and that problems with files are reported once.
func TestOpenOptions(t *testing.T) {
	dir := dumpFolder(t, "core.1")
	module := filepath.Join(dir, "app.dll")
	require.NoError(t, os.WriteFile(module, []byte("MZ and so on"), 0o600))
	var got OpenOptions
	code, stdout, stderr := withFiles(t, dir, &got, "--modules", dir, "--modules", module, "--limit", "UNPACKED=2k", "-offline", "-jobs", "3",
		"--json", "-c", "obj 1", "-c", "obj 2")
	assert.Equal(t, ExitOK, code, stderr)
	assert.Equal(t, []string{dir, module}, got.Modules)
	assert.Equal(t, map[string]uint64{"unpacked": 2048}, got.Limits)
	assert.True(t, got.Offline)
	assert.Equal(t, 3, got.Jobs)
	assert.Equal(t, 1, strings.Count(stderr, "connection refused"))
	docs := decodeAll(t, stdout)
	require.Len(t, docs[0].Warnings, 1)
	assert.Empty(t, docs[1].Warnings)
}

// TestFileProblemsComeFirst checks that the reason for missing files is reported first.
func TestFileProblemsComeFirst(t *testing.T) {
	c := &Context{Session: &Session{dump: &filesDump{problems: []error{errors.New("symbol server http://x: connection refused")}}}}
	c.Warn(errors.New("the stack ends"))
	c.fileProblems()
	assert.Equal(t, "warning: the answer is incomplete: 2 parts are missing (2 other); the first: symbol server http://x: connection refused", c.warningLine(true, nil))
}
