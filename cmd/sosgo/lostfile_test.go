package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sosgo/sosgo/internal/front/cli"
	"github.com/sosgo/sosgo/internal/test/testdump"
)

// filesOf lists the files and folders below dir, without dir.
func filesOf(t *testing.T, dir string) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, path); rel != "." {
			out = append(out, filepath.ToSlash(rel))
		}
		return err
	}))
	return out
}

// writers are the command lines that write what they read of a dump. {out} is a folder.
var writers = []string{
	"export gcdump -full {out}/x", "export heapsnapshot -full {out}/x", "export pprof -full {out}/x", "export pprof -heap -full {out}/x", "export speedscope -full {out}/x",
	"export folded -full {out}/x", "export parquet -full {out}/x", "export csv -full {out}/x", "export ndjson -full {out}/x", "export parquet -summary -full {out}/x",
	"pack -o {out}/x", "pack -scrub -o {out}/x", "pack -shrink -o {out}/x", "report -full -o {out}/x", "scrub -o {out}/x", "shrink -o {out}/x",
	"traverseheap {out}/x", "stacks -o {out}/x", "savemodule {module} {out}/x", "dumpheap -stat > {out}/x", "-graph-dir {out} retained",
}

// TestLostFile: the file of a dump becomes shorter after it was opened. With and without a mapping, whatever is cut
// off and whatever writes: the command fails because of this machine, says what happened, and keeps nothing.
func TestLostFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	d := testdump.Open(t, "net10-zoo")
	raw, err := d.Raw()
	require.NoError(t, err)
	for _, cut := range []int{len(raw) / 8, len(raw) - 100} {
		for _, mapped := range []bool{true, false} {
			for _, line := range writers {
				dir, out := t.TempDir(), t.TempDir()
				path := filepath.Join(dir, "core")
				require.NoError(t, os.WriteFile(path, raw, 0o600))
				env := environment(nil)
				env.Recover = true
				env.Open = func(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
					d, err := environment(nil).Open(ctx, path, o)
					if err == nil {
						err = os.Truncate(path, int64(cut))
					}
					return d, err
				}
				args := []string{"-d", path, "-offline"}
				if !mapped {
					args = append(args, "-no-mmap")
				}
				line = writingOf(d, line, out)
				if rest, found := strings.CutPrefix(line, "-graph-dir "+out+" "); found {
					args, line = append(args, "-graph-dir", out), rest
				}
				var stdout, stderr bytes.Buffer
				code := cli.Main(t.Context(), append(args, "-c", line), strings.NewReader(""), &stdout, &stderr, env)
				what := strings.Join(append(args[3:], line), " ")
				assert.Equal(t, cli.ExitOpen, code, "%s, %d bytes left: %s", what, cut, stderr.String())
				assert.Contains(t, stderr.String(), "core became shorter while it was read", "%s, %d bytes left", what, cut)
				for _, left := range filesOf(t, out) {
					folder := strings.Contains(line, "-summary") && (left == "x" || strings.HasPrefix(left, "x/date=") && strings.Count(left, "/") == 1)
					assert.True(t, folder, "%s, %d bytes left: %s stays", what, cut, left)
				}
			}
		}
	}
}

// TestLostCompressed: a compressed dump becomes shorter while it is unpacked. That is no damage of the dump, and nothing is kept of it.
func TestLostCompressed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file can't be cut there")
	}
	raw, err := testdump.Open(t, "net10-zoo").Raw()
	require.NoError(t, err)
	var zipped, zst bytes.Buffer
	g := gzip.NewWriter(&zipped)
	_, err = g.Write(raw)
	require.NoError(t, err)
	require.NoError(t, g.Close())
	z, err := zstd.NewWriter(&zst)
	require.NoError(t, err)
	_, err = z.Write(raw)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	for name, content := range map[string][]byte{"core.gz": zipped.Bytes(), "core.zst": zst.Bytes()} {
		for _, mapped := range []bool{true, false} {
			path := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.WriteFile(path, content, 0o600))
			env := environment(nil)
			env.Recover = true
			env.Open = func(ctx context.Context, path string, o cli.OpenOptions) (cli.Dump, error) {
				o.Progress = func(uint64, uint64) { assert.NoError(t, os.Truncate(path, int64(len(content)/2))) }
				return environment(nil).Open(ctx, path, o)
			}
			args := []string{"-d", path, "-offline", "-no-cache", "-json"}
			if !mapped {
				args = append(args, "-no-mmap")
			}
			var stdout, stderr bytes.Buffer
			code := cli.Main(t.Context(), append(args, "threads"), strings.NewReader(""), &stdout, &stderr, env)
			assert.Equal(t, cli.ExitOpen, code, "%s, mapped %v: %s", name, mapped, stderr.String())
			assert.Contains(t, stderr.String(), "became shorter while it was read", "%s, mapped %v", name, mapped)
			assert.Contains(t, stdout.String(), `"host":true`, "%s, mapped %v: it may succeed later", name, mapped)
		}
	}
}
