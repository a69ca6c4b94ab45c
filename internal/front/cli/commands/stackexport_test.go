package commands_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/front/cli/commands"
	"github.com/sosgo/sosgo/internal/test/exportread"
	"github.com/sosgo/sosgo/internal/test/testcli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// sosgo runs a command on a dump.
func sosgo(t *testing.T, d *testdump.Dump, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	line := append([]string{"-d", d.Plain()}, args...)
	env := keep(t, d.Plain())
	env.Commands = commands.All()
	code = cli.Main(t.Context(), line, nil, &out, &errs, env)
	return code, out.String(), errs.String()
}

// kept is the dump used last.
var kept testcli.Kept

// keep returns an environment that opens the dump at path. The dump stays open until another path is used.
func keep(t *testing.T, path string) cli.Env {
	t.Helper()
	if path != kept.Path {
		require.NoError(t, kept.Close())
		kept.Path = path
	}
	return kept.Env()
}

type stacksResult struct {
	Result struct {
		Stacks []struct {
			OSID   uint32 `json:"osId"`
			Frames []struct{ Name string }
		}
	}
}

// TestStacksExport checks that all forms describe the same stacks.
func TestStacksExport(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		code, text, stderr := sosgo(t, d, "--json", "stacks")
		if code == cli.ExitUnsupported {
			t.Skip(stderr)
		}
		require.Zero(t, code, stderr)
		var all stacksResult
		require.NoError(t, json.Unmarshal([]byte(text), &all))
		stacks, frames := 0, 0
		for _, s := range all.Result.Stacks {
			if frames += len(s.Frames); len(s.Frames) > 0 {
				stacks++
			}
		}

		code, text, stderr = sosgo(t, d, "stacks")
		require.Zero(t, code, stderr)
		threads, calls := 0, 0
		for line := range strings.Lines(text) {
			i := strings.LastIndexByte(line, ' ')
			n, err := strconv.Atoi(strings.TrimSpace(line[i+1:]))
			require.NoError(t, err)
			threads += n
			calls += n * (strings.Count(line, ";") + 1)
		}
		assert.Equal(t, stacks, threads)
		assert.Equal(t, frames, calls)

		dir := t.TempDir()
		file := filepath.Join(dir, "stacks.json")
		code, _, stderr = sosgo(t, d, "stacks", "--export", "json", "-o", file)
		require.Zero(t, code, stderr)
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		var same stacksResult
		require.NoError(t, json.Unmarshal(b, &same))
		assert.Equal(t, all, same)

		file = filepath.Join(dir, "stacks.pb.gz")
		code, _, stderr = sosgo(t, d, "stacks", "--export", "pprof", "-o", file)
		require.Zero(t, code, stderr)
		b, err = os.ReadFile(file)
		require.NoError(t, err)
		p := exportread.ReadProfile(t, b)
		require.Len(t, p.Samples, stacks)
		calls = 0
		for _, s := range p.Samples {
			calls += len(s.Frames)
		}
		assert.Equal(t, frames, calls)

		code, text, stderr = sosgo(t, d, "stacks", "--export", "speedscope")
		require.Zero(t, code, stderr)
		var scope struct{ Profiles []struct{ Samples [][]int } }
		require.NoError(t, json.Unmarshal([]byte(text), &scope))
		require.Len(t, scope.Profiles, stacks+1, "all threads, and each with frames")
		calls = 0
		for _, s := range scope.Profiles[0].Samples {
			calls += len(s)
		}
		assert.Equal(t, frames, calls)
	})
}

// TestStacksKeepsFiles checks that existing files are never overwritten.
func TestStacksKeepsFiles(t *testing.T) {
	done := false
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		if done || !d.HasRuntime() {
			t.Skip("one dump is enough")
		}
		done = true
		file := filepath.Join(t.TempDir(), "kept")
		require.NoError(t, os.WriteFile(file, []byte("kept"), 0o600))
		code, _, _ := sosgo(t, d, "stacks", "-o", file)
		assert.Equal(t, cli.ExitUsage, code)
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "kept", string(b))
		code, _, _ = sosgo(t, d, "--json", "stacks", "--export", "folded")
		assert.Equal(t, cli.ExitUsage, code)
	})
}

func TestWatsonBucketsAreUnsupported(t *testing.T) {
	testdump.Kinds(t, func(t *testing.T, d *testdump.Dump) {
		code, _, stderr := sosgo(t, d, "watsonbuckets")
		assert.Equal(t, cli.ExitUnsupported, code)
		assert.Contains(t, stderr, "Watson buckets")
	})
}
