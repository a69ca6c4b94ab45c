package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo"
	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
	"github.com/sosgo/sosgo/target"
)

// TestShrinkingDump: a dump that is cut while it is open costs an answer, and not
// the program, though its pages are gone under a mapping.
func TestShrinkingDump(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	raw, err := testdump.Open(t, "net10-zoo").Raw()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "core")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	env := environment(nil)
	env.Recover = true
	env.Open = func(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
		d, err := environment(nil).Open(ctx, path, o)
		if err == nil {
			err = os.Truncate(path, int64(len(raw)/8))
		}
		return d, err
	}
	for _, command := range []string{"dumpheap -stat -jobs 1", "dumpheap -stat -jobs 4", "clrstack -all"} {
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), []string{"-d", path, "-c", command, "-c", "version"}, strings.NewReader(""), &out, &errs, env)
		assert.Equal(t, cli.ExitOpen, code, command)
		assert.Contains(t, errs.String(), "became shorter", command)
		assert.Contains(t, out.String(), "sosgo devel", "the session goes on")
	}
}

// TestTruncatedDump: every command says that the dump is cut, and by how much.
func TestTruncatedDump(t *testing.T) {
	for _, name := range []string{"net10-zoo", "win-net10-zoo"} {
		whole := testdump.Open(t, name)
		raw, err := whole.Raw()
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "core")
		require.NoError(t, os.WriteFile(path, raw[:len(raw)-12345], 0o600))
		cut, err := sosgo.Open(path, sosgo.Options{Offline: true})
		require.NoError(t, err)
		defer cut.Close()
		var gone target.Addr
		for r := range whole.Target().Regions() {
			last := r.Start + target.Addr(r.Stored) - 8
			_, there := whole.Target().View(last, 8)
			if _, left := cut.Target().View(last, 8); there && !left {
				gone = last
			}
		}
		require.NotZero(t, gone)
		for _, command := range []string{"threads", "modules", "clrstack -all", "eeheap", "doctor"} {
			var out, errs bytes.Buffer
			cli.Main(t.Context(), []string{"-d", path, "-json", "-c", command}, strings.NewReader(""), &out, &errs, environment(nil))
			assert.Contains(t, out.String(), "the dump is cut: 12345 bytes", "%s, %s", name, command)
			assert.Equal(t, 1, strings.Count(out.String(), `"the dump is cut`), "%s, %s", name, command)
			assert.Contains(t, errs.String(), "warning: ", "%s, %s", name, command)
		}
		for _, asJSON := range []string{"", "-json"} {
			out, errs, code := run(t, append([]string{"-d", path}, strings.Fields(asJSON+" dq "+gone.String()+" L1")...)...)
			assert.Equal(t, cli.ExitNotInDump, code)
			assert.Contains(t, out+errs, "file is cut off, and this may be in what is gone", "the advice")
			assert.NotContains(t, out+errs, "left this memory out")
		}
	}
}
